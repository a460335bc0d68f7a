package directory

import (
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay/defence"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Config holds the parameters of a [Directory]. All must be set, unless it says otherwise; package overlay has the
// defaults.
type Config struct {
	Self          wire.PeerID
	Seed          summary.SeedTag // of the network
	Previous      summary.Seed    // the seed before, while the network rotates
	PreviousUntil time.Duration   // until when summaries under Previous are taken in; not above 0: there is none

	Memory     int                      // bytes that the directory may take
	MaxOrigins int                      // entries at most, not counting linked peers
	Group      func(wire.Record) string // what addresses have in common with those of others; nil: nothing
	MaxGroup   int                      // entries of one group
	Loop       bool                     // answer queries without an index, and keep encoded parts
	Compared   int                      // how many of the best shares are estimated again as more is known

	OpenHeader     func(envelope []byte) (summary.Header, error)
	OpenRecord     func(envelope []byte) (wire.PeerID, error)
	Outdated       func(p wire.PeerID, held, came []byte) bool // a record is older than one that is or was held; nil: none is
	NewPrefix      func(summary.Header) (*summary.Prefix, error)
	Extend         func(*summary.Prefix, summary.Run) (*summary.Prefix, error)
	ExtendRelative func(p, base *summary.Prefix, r summary.Relative) (*summary.Prefix, error)
	Keep           func(signed []byte) []byte // what is kept in place of signed bytes that came; nil: they themselves

	Rand       *rand.Rand
	Undefended defence.Off // for tests
}
