package testnet

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// System is a way of finding holders that runs on libp2p hosts, to be compared with others by [Compare].
type System struct {
	Name string
	Note string // a note on how it is run, for readers

	// Padded means that the bytes sent are padding of the messages' sizes, and their contents are passed within the
	// process: see package drive.
	Padded bool

	// Announce is the largest number of holdings of the whole network that are announced, besides the holdings of keys
	// that will be looked for. It is for systems that pay for each holding. 0: all holdings.
	Announce int
	// Marginal means that a holding costs less the more there are. Its cost is then the slope between two
	// announcements: of half of Announce and of Announce, one after the other.
	Marginal bool
	// Upkeep and Query report whether a protocol is for announcing, and for queries. A protocol may be for both.
	Upkeep, Query func(protocol.ID) bool

	// Open makes the peer of a place. The peer knows no others than Place.Begin.
	Open func(Place) (Peer, error)

	cast func(*stage) (cast, error) // makes the cast, in place of Upkeep, Query and Open
}

// Place is the surroundings of a peer of a System.
type Place struct {
	Number int
	Host   host.Host
	Begin  []peer.AddrInfo // earlier peers, at which it begins
	Rate   uint64          // rate of its line, bit/s
}

// Peer is a peer of a System. Its methods are called from several goroutines, but Join and Announce one after the
// other, in this order.
type Peer interface {
	// Join joins the network, if the system can do so before it announces. All hosts are open.
	Join(context.Context) error
	// Announce makes keys known, and returns when it will do no more for that. All peers have joined.
	Announce(ctx context.Context, keys [][]byte) error
	// Find finds one holder, or all. A query with an error counts as one that found nothing, but an error that matches
	// ErrBroken ends the run.
	Find(ctx context.Context, key []byte, all bool) (Answer, error)
	// Close ends the peer. It is called before the host is closed, for several peers at the same time.
	Close() error
}

// VennSystem returns venn itself: nodes as Run starts them. They announce all that they hold in one summary. Announcing
// is over when every peer knows every other and has learned nothing more for some seconds, or after Config.Warmup.
func VennSystem() System {
	return System{
		Name: "venn", Note: "one summary a peer of all it holds; holders are confirmed",
		cast: func(t *stage) (cast, error) { return t.nodes(false) },
	}
}

// StrategySystem returns a system of any strategy, of package strategy or your own, with its default parameters:
// package drive runs it on the hosts. It has the links that package sim would give it: 8 a peer in a random topology. A
// strategy that chooses its links itself has 4 to begin with. Announcing is over when no peer sends or plans anything
// any more, or after Config.Warmup: gossip never ends.
func StrategySystem(s strategy.Strategy) System {
	return System{Name: s.Name, Note: s.Source, Padded: true, cast: func(t *stage) (cast, error) { return t.driven(s, true) }}
}

// castOn returns the cast that plays the system on a stage.
func (s *System) castOn(t *stage) (cast, error) {
	if s.cast != nil {
		return s.cast(t)
	}
	return &company{stage: t, system: s}, nil
}

// company is the cast of a System with its own Open. Its peers stay from the start to the end, with the same keys.
type company struct {
	*stage
	system *System
	peers  []Peer
}

func (c *company) upkeep(id protocol.ID) bool { return c.system.Upkeep(id) }
func (c *company) query(id protocol.ID) bool  { return c.system.Query(id) }

func (c *company) join(ctx context.Context) error {
	rng := c.cfg.random(joining)
	for i, m := range c.members {
		p, err := c.system.Open(Place{Number: i, Host: m.host, Begin: earlier(c.all, i, rng), Rate: uint64(c.plan.Line(strategy.ID(i)).Up)})
		if err != nil {
			return err
		}
		c.peers = append(c.peers, p)
	}
	return c.together(Meshing, func(i int) error { return c.peers[i].Join(ctx) })
}

// earlier draws two peers before number i for it to begin from; the first peers have fewer before them.
func earlier(all []peer.AddrInfo, i int, rng *rand.Rand) (begin []peer.AddrInfo) {
	for _, j := range rng.Perm(i)[:min(i, 2)] {
		begin = append(begin, all[j])
	}
	return begin
}

func (c *company) begin(ctx context.Context, keys [][][]byte) error {
	return c.together(Spreading, func(i int) error { return c.peers[i].Announce(ctx, keys[i]) })
}

func (c *company) settle(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func (c *company) ask(ctx context.Context, p int, key uint32, all bool) (Answer, error) {
	return c.peers[p].Find(ctx, c.key(key), all)
}

func (c *company) leave(strategy.ID)                       {}
func (c *company) come(context.Context, strategy.ID) error { return nil }
func (c *company) change(context.Context, sim.Change)      {}
func (c *company) heal()                                   {}

func (c *company) close() {
	runs.Parallel(len(c.peers), closing, func(i int) { _ = c.peers[i].Close() })
}
