package directory

import (
	"cmp"
	"math/rand/v2"
	"time"

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
	Newest         func(p wire.PeerID, held, came []byte) []byte // of the records that came, is and was held; nil: the one that came
	NewPrefix      func(summary.Header) (*summary.Prefix, error)
	Extend         func(*summary.Prefix, summary.Run) (*summary.Prefix, error)
	ExtendRelative func(p, base *summary.Prefix, r summary.Relative) (*summary.Prefix, error)
	Keep           func(signed []byte) []byte // what is kept in place of signed bytes that came; nil: they themselves

	Rand   *rand.Rand
	Limits Limits
}

// Limits bounds what others can make a directory remember and believe. Zero values mean the stated defaults, and no node
// has others. Tests and experiments loosen one to show the attack that it withstands.
type Limits struct {
	Bans   int           // origins that are banned at a time; 0: those that 1/64 of Memory holds, 16 at least
	BanFor time.Duration // how long a ban lasts; 0: 24 h

	Named     int           // entries known by their record alone; 0: 1,024
	NamedLink int           // of these, those that one link named; 0: 64
	NamedFor  time.Duration // how long such an entry is kept; 0: 10 min

	Seconders int // links from which the word of one alone is not enough for an origin; 0: 4. See [Directory.Invented]
	Answers   int // confirmations of one peer that count; 0: 256. Fewer than 6 misses refute no claim
}

func (l *Limits) defaults(memory int) {
	l.Bans = cmp.Or(l.Bans, max(leastBans, int(banShare*float64(memory)/banMemory)))
	l.BanFor = cmp.Or(l.BanFor, banFor)
	l.Named, l.NamedLink, l.NamedFor = cmp.Or(l.Named, maxNamed), cmp.Or(l.NamedLink, maxNamedLink), cmp.Or(l.NamedFor, namedFor)
	l.Seconders = cmp.Or(l.Seconders, seconders)
	l.Answers = cmp.Or(l.Answers, maxAnswers)
}
