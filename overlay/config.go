package overlay

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/topology"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Config holds the parameters of an [Overlay]. Zero values mean the stated defaults.
type Config struct {
	Self wire.PeerID     // this node; required
	Seed summary.SeedTag // the network's; summaries of another name are refused, those of another number not asked for

	// Previous is the seed that the network is rotating from, another number of the same name. Until PreviousUntil, an
	// instant on the core's clock, summaries under it are accepted, too, and our own may be published under either.
	// PreviousUntil <= 0: there is no previous seed.
	Previous      summary.Seed
	PreviousUntil time.Duration

	// Up and Down are the declared rates of our own line, bit/s. 0: not declared. The line then counts as having
	// [exchange.UndeclaredRate], all links together. Messages of peers are paced by what arrives: see [exchange.FirstRate].
	Up, Down uint64
	Share    float64 // share of a line's rate that summaries may use, in (0, 1]; 0: 1/3

	// Memory is the number of bytes that the directory may take: entries, prefixes, and the index over them; 0: 64 MiB.
	Memory int
	// MaxOrigins is the largest number of unlinked peers in the directory; memory may allow fewer. In a larger network the
	// directory covers a range, see package region. 0: 131,072.
	MaxOrigins int
	// Group returns the address group of a record, such as a network prefix, whose peers may be one party; "": none. At
	// most MaxGroup peers of one group are known, 0: 64. This does not bound linked peers, nor peers with a summary in the
	// group of our own record, as at a site behind one address. Nil: there are no groups.
	Group    func(wire.Record) string
	MaxGroup int
	// Cache shares work on summaries among the overlays of a process, as in a testnet; nil: nothing is shared. With it,
	// queries ask every prefix, without an index, which would take more memory than all prefixes. Nor are prefixes made
	// compact.
	Cache *cache.Cache

	OverlapSlots int // neighbours chosen by overlap; 0: 4. At most half of all slots
	NearSlots    int // neighbours chosen by round trip; 0: 1
	RandomSlots  int // outbound neighbours chosen at random; 0: 3
	MaxLinks     int // most neighbours, inbound ones included; 0: 20
	// SpreadLinks is the largest number of neighbours chosen besides MaxLinks, spread over our range, if it is far
	// wider than the ranges of other peers. The line allows one for each 256 kbit/s, and at most 256. 0: no other
	// bound. Below 0: no such neighbours.
	SpreadLinks int

	// OpenHeader verifies and parses a signed header; required. Errors name the fault.
	OpenHeader func(envelope []byte) (summary.Header, error)
	// OpenRecord verifies a signed address record and returns its peer; required.
	OpenRecord func(envelope []byte) (wire.PeerID, error)
	// Newest returns the newest record of a peer, which the directory then keeps: the verified one that came, the one held
	// (nil: none is), or a record held earlier. nil: each record that comes counts as newer.
	Newest func(p wire.PeerID, held, came []byte) []byte
	// Keep returns the copy that is kept of a signed header or record: the same bytes, in memory of their own or shared
	// with other copies. Nil: the bytes that came, for a driver that does not cut them out of larger messages.
	Keep func(signed []byte) []byte

	Tails bool // this peer receives tails, and says so in hellos

	Rand *rand.Rand // the only source of randomness; required

	Limits Limits // for tests and experiments; every node has the zero value
}

// Limits bounds what others can make an overlay remember, do and believe.
type Limits struct {
	Directory directory.Limits
	Exchange  exchange.Limits
	Accept    time.Duration // time within which a chosen neighbour must accept; 0: 30 s
	Visitors  int           // visitors of a meeting place remembered at a time; 0: 64
}

// Levels of the directory's estimates; package directory explains each.
const (
	SureMatch = directory.SureMatch
	VagueRate = directory.VagueRate
)

const tickEvery = agenda.Tick // least time between two ticks

const (
	// maxSpread caps the spread neighbours; spreadRate is the rate of the line, in bit/s, that each of them needs.
	maxSpread  = 256
	spreadRate = 256_000
)

func (c *Config) defaults() {
	c.Up = cmp.Or(c.Up, exchange.UndeclaredRate)
	c.Down = cmp.Or(c.Down, exchange.UndeclaredRate)
	c.Share = cmp.Or(c.Share, 1.0/3)
	c.Memory = cmp.Or(c.Memory, 64<<20)
	c.MaxOrigins = cmp.Or(c.MaxOrigins, 1<<17)
	c.MaxGroup = cmp.Or(c.MaxGroup, 64)
	c.OverlapSlots = cmp.Or(c.OverlapSlots, rank.SimilarSlots)
	c.NearSlots = cmp.Or(c.NearSlots, rank.NearSlots)
	c.RandomSlots = cmp.Or(c.RandomSlots, rank.RandomSlots)
	c.MaxLinks = cmp.Or(c.MaxLinks, 20)
	c.SpreadLinks = cmp.Or(c.SpreadLinks, maxSpread)
	c.SpreadLinks = max(0, min(c.SpreadLinks, maxSpread, int(min(c.Up, c.Down, maxSpread*spreadRate)/spreadRate)))
}

// check returns every fault of the configuration.
func (c *Config) check() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("overlay: "+format, args...))
		}
	}
	fault(c.Self == "", "Self is empty")
	fault(c.Share <= 0 || c.Share > 1, "Share is %v, not in (0, 1]", c.Share)
	fault(c.Memory < 0, "Memory is %d, below 0", c.Memory)
	fault(c.MaxOrigins < 0 || c.MaxGroup < 0, "MaxOrigins is %d and MaxGroup is %d, one below 0", c.MaxOrigins, c.MaxGroup)
	fault(c.OverlapSlots < 0 || c.NearSlots < 0 || c.RandomSlots < 0, "a number of slots is below 0")
	fault(c.OverlapSlots > c.NearSlots+c.RandomSlots,
		"OverlapSlots is %d, more than half of all %d slots", c.OverlapSlots, c.slots())
	fault(c.MaxLinks < c.slots(), "MaxLinks is %d, below the %d slots", c.MaxLinks, c.slots())
	if c.PreviousUntil > 0 {
		p := c.Previous.Tag()
		fault(p.Network != c.Seed.Network || p.Number == c.Seed.Number, "Previous is no other number of Seed's network")
	}
	fault(c.OpenHeader == nil, "OpenHeader is missing")
	fault(c.OpenRecord == nil, "OpenRecord is missing")
	fault(c.Rand == nil, "Rand is missing")
	return errors.Join(errs...)
}

func (c *Config) slots() int { return c.OverlapSlots + c.NearSlots + c.RandomSlots }

// directory returns the directory's part of the configuration.
func (c *Config) directory() directory.Config {
	return directory.Config{
		Self: c.Self, Seed: c.Seed, Previous: c.Previous, PreviousUntil: c.PreviousUntil,
		Memory: c.Memory, MaxOrigins: c.MaxOrigins, Group: c.Group, MaxGroup: c.MaxGroup, Cache: c.Cache, Compared: 3 * c.OverlapSlots,
		OpenHeader: c.OpenHeader, OpenRecord: c.OpenRecord, Newest: c.Newest, Keep: c.Keep, Rand: c.Rand, Limits: c.Limits.Directory,
	}
}

// exchange returns the exchange's part of the configuration. up and down are the declared rates in bit/s; 0: not
// declared.
func (c *Config) exchange(up, down uint64) exchange.Config {
	return exchange.Config{
		Self: c.Self, Up: c.Up, Down: c.Down, DeclaredUp: up, DeclaredDown: down, Share: c.Share, Cache: c.Cache,
		Rand: c.Rand, Limits: c.Limits.Exchange,
	}
}

// topology returns the topology's part of the configuration.
func (c *Config) topology() topology.Config {
	return topology.Config{
		Overlap: c.OverlapSlots, Near: c.NearSlots, Random: c.RandomSlots, MaxLinks: c.MaxLinks, Spread: c.SpreadLinks,
		Accept: c.Limits.Accept, Rand: c.Rand,
	}
}

// region returns the region's part of the configuration.
func (c *Config) region() region.Config {
	return region.Config{
		Self: c.Self, Memory: c.Memory, MaxOrigins: c.MaxOrigins, Group: c.Group, OpenRecord: c.OpenRecord,
		Rand: c.Rand, Visitors: c.Limits.Visitors,
	}
}
