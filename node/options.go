package node

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"

	ds "github.com/ipfs/go-datastore"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/gologshim"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/limits"
	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/summary"
)

// Option sets one property of a node. Every property has a default.
type Option func(*config) error

type config struct {
	seed           summary.Seed
	previous       *previous      // previous seed; nil: none
	overlay        overlay.Config // only the fields that options set
	maxConnections int
	log            *slog.Logger
	registerer     prometheus.Registerer
	bootstrap      []peer.AddrInfo
	cache          *cache.Cache
	headers        *signed.Cache
	random         uint64
	keys           keystore.Keys
	private        keystore.Keys
	epochs         keystore.Epochs
	store          *store.Store // nil: none
	datastore      ds.Batching  // where New opens the store; nil: none
	datastoreOpts  []store.Option
	joins          bool
	mayAskPrivate  func(peer.ID) bool
	mayTake        func(peer.ID) bool
	addresses      func([]ma.Multiaddr) []ma.Multiaddr
	pubsub         []pubsub.Option // options besides the node's own; for tests
	limits         limits.Limits
	later          map[protocol.ID][]protocol.ID // for tests: later versions that the node speaks, newest first
}

// defaultNetwork is the name of the network without WithNetwork.
const defaultNetwork = "venn"

// newConfig applies the options, sets the defaults of the rest, and checks options that depend on each other.
func newConfig(opts []Option) (config, error) {
	c := config{
		seed:           summary.Seed{Network: defaultNetwork},
		overlay:        overlay.Config{Share: 1.0 / 3},
		maxConnections: core.Connections,
		random:         rand.Uint64(),
	}
	var errs []error
	for i, o := range opts {
		if o == nil {
			return c, fmt.Errorf("node: option %d is nil", i)
		}
		errs = append(errs, o(&c))
	}
	if c.log == nil {
		c.log = gologshim.Logger("venn")
	}
	c.limits = c.limits.Defaulted()
	if c.headers == nil {
		c.headers = signed.NewCache(1024)
	}
	if c.mayTake == nil {
		c.mayTake = func(peer.ID) bool { return true }
	}
	if c.addresses == nil {
		c.addresses = func(a []ma.Multiaddr) []ma.Multiaddr { return a }
	}
	if c.mayAskPrivate == nil {
		c.mayAskPrivate = c.isBootstrap
	}
	errs = append(errs, c.checkStore(), c.checkPrevious(), c.checkNeighbours())
	return c, errors.Join(errs...)
}

// WithNetwork names the network and the number of its hash seed. Only nodes with the same name and number understand
// each other's summaries. Only nodes with the same name link and answer each other, because the ids of their protocols
// depend on it. Default "venn", 0. The name has 1 to 64 bytes. See WithPreviousSeed for the change to another number.
func WithNetwork(name string, number uint32) Option {
	return func(c *config) error {
		if len(name) < 1 || len(name) > 64 {
			return fmt.Errorf("node: network name of %d bytes, must have 1 to 64", len(name))
		}
		c.seed = summary.Seed{Network: name, Number: number}
		return nil
	}
}

// leastRate is the slowest line that may be declared. Less is a mistake: a rate in Mbit/s.
const leastRate = 8000

// WithBandwidth declares the rates at which this peer can send and receive, in bit/s: 8,000 or more. Default 0, 0: not
// declared, which counts as exchange.UndeclaredRate, 10 Mbit/s.
func WithBandwidth(up, down uint64) Option {
	return func(c *config) error {
		for _, rate := range []uint64{up, down} {
			if rate > 0 && rate < leastRate {
				return fmt.Errorf("node: bandwidth %d, %d bit/s, must be 0 (not declared) or %d or more", up, down, leastRate)
			}
		}
		c.overlay.Up, c.overlay.Down = up, down
		return nil
	}
}

// WithSummaryShare sets the share of the slower end's declared rate that summaries may use on a link, above 0 and at
// most 1. Default 1/3.
func WithSummaryShare(share float64) Option {
	return func(c *config) error {
		if !(share > 0 && share <= 1) {
			return fmt.Errorf("node: summary share %v, must be above 0 and at most 1", share)
		}
		c.overlay.Share = share
		return nil
	}
}

// WithMaxConnections limits the connections that the node makes, and the links on connections made by others: not the
// host's other connections. Default 32. At most half of them are links that this node did not want, so that the rest is
// free to dial. Five eighths may be neighbours, including peers that chose this node. The neighbours that the node chooses
// itself must fit: this takes 13 connections or more with the default of WithNeighbours. A node that knows far more
// of a large network than most others may make a quarter of the connections beyond 32 into all parts of it.
func WithMaxConnections(n int) Option {
	return func(c *config) error { c.maxConnections = n; return nil }
}

// checkNeighbours checks that the neighbours that the node chooses have room, and that at most half are by overlap.
func (c *config) checkNeighbours() error {
	overlap, all := cmp.Or(c.overlay.OverlapSlots, rank.SimilarSlots), 0
	for _, n := range []int{overlap, cmp.Or(c.overlay.NearSlots, rank.NearSlots), cmp.Or(c.overlay.RandomSlots, rank.RandomSlots)} {
		if n < 0 || n > mostNeighbours {
			return nil // WithNeighbours has returned the error
		}
		all += n
	}
	if 2*overlap > all {
		return fmt.Errorf("node: %d of %d neighbours by overlap, may be half at most", overlap, all)
	}
	if least := (8*all + 4) / 5; c.maxConnections < least {
		return fmt.Errorf("node: at most %d connections, must be %d or more for %d neighbours", c.maxConnections, least, all)
	}
	return nil
}

// neighbourLinks returns the number of links that may be with neighbours, whichever end chose the other.
func (c *config) neighbourLinks() int { return c.maxConnections/8*5 + c.maxConnections%8*5/8 }

// spreadLinks returns the number of further links that a node may make into all parts of a large network; below 0:
// none.
func (c *config) spreadLinks() int { return cmp.Or(max(0, c.maxConnections-core.Connections)/4, -1) }

// mostNeighbours is the largest number of neighbours of one kind.
const mostNeighbours = 1000

// WithNeighbours sets the numbers of neighbours that the node chooses by overlap, by round trip and at random, 0 to
// 1,000 of each. 0 of a kind stands for its default. Default 4, 1, 3. At most half of all may be by overlap.
func WithNeighbours(overlap, near, random int) Option {
	return func(c *config) error {
		if min(overlap, near, random) < 0 || max(overlap, near, random) > mostNeighbours {
			return fmt.Errorf("node: %d, %d, %d neighbours, must be 0 to %d", overlap, near, random, mostNeighbours)
		}
		c.overlay.OverlapSlots, c.overlay.NearSlots, c.overlay.RandomSlots = overlap, near, random
		return nil
	}
}

// leastMemory is enough for a few dozen small summaries. Less is a mistake: a size in MiB.
const leastMemory = 1 << 16

// WithMemory limits the bytes of others' summaries that are kept, 65,536 or more. The least valuable go first. If the
// summaries of all peers of a network do not fit, the node covers a range, as with [WithOrigins]. Default 64 MiB.
func WithMemory(bytes int) Option {
	return func(c *config) error {
		if bytes < leastMemory {
			return fmt.Errorf("node: memory of %d bytes, must be %d or more", bytes, leastMemory)
		}
		c.overlay.Memory = bytes
		return nil
	}
}

// WithOrigins limits the peers whose summaries are kept, 1 or more, linked ones not counted. Where a network has more,
// the node covers a range of them and asks contacts about the rest. Default 131,072; memory is mostly the tighter
// limit.
func WithOrigins(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("node: summaries of %d peers, must be 1 or more", n)
		}
		c.overlay.MaxOrigins = n
		return nil
	}
}

// WithLogger sets the logger. Default: go-libp2p's gologshim.Logger("venn"), which obeys GOLOG_LOG_LEVEL.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error { c.log = l; return nil }
}

// WithRegisterer registers the node's metrics, namespace venn, until Close. A registry takes one node's: New fails with
// a second. Default: none.
func WithRegisterer(r prometheus.Registerer) Option {
	return func(c *config) error { c.registerer = r; return nil }
}

// WithBootstrap names peers to connect to at the start. Later the node dials again those that are not connected. While
// it has no link, it does so every 5 s; else at once when a link with one of them is lost, then ever more rarely, and
// at least every ten minutes. Each peer has an ID; without addresses, it is dialled at those in the host's peerstore.
// Options add up. Default: none.
func WithBootstrap(peers ...peer.AddrInfo) Option {
	return func(c *config) error {
		for i, p := range peers {
			if err := p.ID.Validate(); err != nil {
				return fmt.Errorf("node: bootstrap peer %d at %v: %w", i, p.Addrs, err)
			}
		}
		c.bootstrap = append(c.bootstrap, peers...)
		return nil
	}
}

// WithPeerFilter chooses the peers that the node deals with: others are neither linked nor dialled, served nor asked,
// so they are never found. Connections that the host has with them stay if somebody else uses them. The node still
// keeps what other peers tell of them. Refusals count under "offender" in Status.Refused. The function is called often,
// by several goroutines. Protocols of others obey it, too, if they use [Node.Host]. Default: everybody.
func WithPeerFilter(may func(peer.ID) bool) Option {
	return func(c *config) error { c.mayTake = may; return nil }
}

// WithAddressFilter chooses the addresses of another peer's record that are used: for dials, and in the results of
// finds and FindPeer. The function must not change its argument; several goroutines call it. Default: all addresses,
// except ones with a DNS name, which are never used. The addresses of WithBootstrap are used as they are.
func WithAddressFilter(filter func([]ma.Multiaddr) []ma.Multiaddr) Option {
	return func(c *config) error { c.addresses = filter; return nil }
}

// WithCaches shares with other nodes of the process what one of them has done: summaries decoded and verified, and
// signed headers, records and tails verified. The node then looks for a key in each summary: an index of its own would
// take more memory than the shared summaries. No byte sent changes. Default: no summaries, and an own cache of headers.
func WithCaches(summaries *cache.Cache, headers *signed.Cache) Option {
	return func(c *config) error { c.cache, c.headers = summaries, headers; return nil }
}

// WithRandomness sets the seed of the node's random decisions, so that runs can be compared. Default: a random one.
func WithRandomness(seed uint64) Option {
	return func(c *config) error { c.random = seed; return nil }
}

// WithKeys sets where keys are kept. Default: in memory (keystore.Memory). Keys that are to outlast the program need
// WithDatastore, or a key store that implements keystore.Epochs. With this option private keys are in memory.
func WithKeys(k keystore.Keys) Option {
	return func(c *config) error { c.keys = k; return nil }
}

// WithLimits sets other limits to what others can make the node do. It is for tests and experiments that show what each
// limit is for: a node without these limits is not safe. Only test kits can name the type.
func WithLimits(l limits.Limits) Option {
	return func(c *config) error { c.limits = l; return nil }
}
