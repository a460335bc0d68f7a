package directory

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Config holds the parameters of a [Directory]. All must be set, unless their comments say otherwise; package overlay
// has the defaults.
type Config struct {
	Self          wire.PeerID
	Seed          summary.SeedTag // seed of the network
	Previous      summary.Seed    // the previous seed, while the network rotates
	PreviousUntil time.Duration   // summaries under Previous are accepted until this time; <= 0: never

	Memory     int                      // bytes that the directory may take
	MaxOrigins int                      // most entries, linked peers not counted
	Group      func(wire.Record) string // names the address group of a record, "" for none; nil: no groups
	MaxGroup   int                      // most entries of one address group
	Cache      *cache.Cache             // work shared with other directories; nil: none. With it there is no index, and encoded parts are kept
	Compared   int                      // number of the largest overlaps that are estimated again as more parts come

	OpenHeader func(envelope []byte) (summary.Header, error)
	OpenRecord func(envelope []byte) (wire.PeerID, error)
	Newest     func(p wire.PeerID, held, came []byte) []byte // newest of the record that came and those held, now or before; nil: came
	Keep       func(signed []byte) []byte                    // the copy to keep of signed bytes; nil: the bytes themselves

	Rand   *rand.Rand
	Limits Limits
}

// Limits bounds what others can make a directory remember and believe. Zero values mean the stated defaults, and nodes
// use no other values. Tests and experiments loosen a limit to show the attack that it withstands.
type Limits struct {
	Bans   int           // most origins banned at a time; 0: as many as 1/32 of Memory holds, at least 1
	BanFor time.Duration // duration of a ban; 0: 24 h

	Named     int           // most entries known by their record alone; 0: 1,024
	NamedLink int           // most of these entries that one link named; 0: 64
	NamedFor  time.Duration // time for which an entry known by its record alone is kept; 0: 10 min

	Seconders int // with this many links, one link's word is not enough for an origin; 0: 4. See [Directory.Invented]
	Answers   int // most confirmations of one peer that count; 0: 64. Fewer than 6 misses refute no claim
}

func (l *Limits) defaults(memory int) {
	l.Bans = cmp.Or(l.Bans, max(1, slack(memory)/entryMemory))
	l.BanFor = cmp.Or(l.BanFor, banFor)
	l.Named, l.NamedLink = cmp.Or(l.Named, maxNamed), cmp.Or(l.NamedLink, maxNamedLink)
	l.NamedFor = cmp.Or(l.NamedFor, agenda.Faded)
	l.Seconders = cmp.Or(l.Seconders, seconders)
	l.Answers = cmp.Or(l.Answers, maxAnswers)
}
