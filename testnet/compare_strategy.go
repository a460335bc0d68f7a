package testnet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/drive"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

// StrategySystem is any strategy of package strategy, or of one's own, with its default parameters: package drive runs
// it on the hosts. Its links are those that package sim would give it: 8 a peer in a random topology. A strategy that
// chooses its links itself has 4 to begin with. Announcing is over when no peer sends or plans anything any more, or
// after Config.Warmup: gossip never ends.
func StrategySystem(s strategy.Strategy) System {
	is := func(want protocol.ID) func(protocol.ID) bool {
		return func(id protocol.ID) bool { return id == want }
	}
	var d *driven // of the run whose peers are being made
	return System{
		Name: s.Name, Note: s.Source, Padded: true, Upkeep: is(drive.UpkeepID), Query: is(drive.QueryID),
		Open: func(p Place) (Peer, error) {
			if p.Number == 0 {
				var err error
				if d, err = newDriven(s, p.all); err != nil {
					return nil, err
				}
			}
			run := d
			if p.Number == p.peers()-1 {
				d = nil // what has ended must not take memory while others run
			}
			return run.add(p.Host)
		},
	}
}

// driven is a strategy that runs on all hosts of a comparison.
type driven struct {
	*comparison
	network *drive.Network
	ids     []peer.ID
	link    sync.Once
	linked  error
	start   sync.Once
}

func newDriven(s strategy.Strategy, c *comparison) (*driven, error) {
	edges, err := c.edges(&s)
	if err != nil {
		return nil, err
	}
	d := &driven{comparison: c}
	d.network, err = drive.New(drive.Config{
		Strategy: s, World: c.world(), Links: edges, Degree: linksEach,
		Holds: func(p strategy.ID, k strategy.Key) bool { return c.truth.Has(int(p), k.Number) },
	})
	return d, err
}

// add makes the next peer.
func (d *driven) add(h host.Host) (Peer, error) {
	p := drivenPeer{d, strategy.ID(len(d.ids))}
	d.ids = append(d.ids, h.ID())
	return p, d.network.Add(h)
}

// world is the strategy's view of the run.
func (c *comparison) world() strategy.World {
	w := strategy.World{
		Peers: len(c.ring.Peers()), Seed: c.cfg.Seed,
		Rates: func(p strategy.ID) (up, down uint64) {
			rate := c.cfg.Links[c.classes[p]].Rate
			return rate, rate
		},
		Collection: func(p strategy.ID) []summary.Fingerprint {
			keys := c.ring.Collection(int(p))
			fps := make([]summary.Fingerprint, len(keys))
			for i, k := range keys {
				fps[i] = c.ring.fingerprints[k]
			}
			return fps
		},
		Holders: func(k strategy.Key) []strategy.ID {
			var ids []strategy.ID
			for _, p := range c.truth.Holders(k.Number) {
				ids = append(ids, strategy.ID(p))
			}
			return ids
		},
	}
	if c.cfg.Transport == Sim {
		w.Latency = func(_, _ strategy.ID) time.Duration { return lineLatency }
	}
	return w
}

const (
	linksEach     = 8   // that a peer has on average
	mostDrawnOnce = 100 // topologies until one is in one piece
)

// edges draws a topology in one piece.
func (c *comparison) edges(s *strategy.Strategy) ([][2]strategy.ID, error) {
	t := sim.Topology{Kind: sim.Random, Degree: links.Of(s, linksEach).Degree}
	peers, rng := len(c.ring.Peers()), c.cfg.random(wiring)
	for range mostDrawnOnce {
		if edges := t.Edges(peers, rng); sim.Components(peers, edges) == 1 {
			return edges, nil
		}
	}
	return nil, fmt.Errorf("%w: %d links a peer don't connect %d peers", ErrConfig, t.Degree, peers)
}

// drivenPeer is one peer of them.
type drivenPeer struct {
	*driven
	id strategy.ID
}

// Join opens the links of all.
func (p drivenPeer) Join(ctx context.Context) error {
	p.link.Do(func() { p.linked = p.network.Link(ctx) })
	return p.linked
}

// Announce starts all: what a strategy announces is a matter of its own.
func (p drivenPeer) Announce(ctx context.Context, _ [][]byte) error {
	p.start.Do(p.network.Start)
	return p.network.Settle(ctx, p.cfg.Warmup)
}

func (p drivenPeer) Find(ctx context.Context, key []byte, all bool) (Answer, error) {
	number, known := p.ring.Lookup(key)
	if !known {
		return Answer{}, errForeign
	}
	k := strategy.Key{Number: number, Fingerprint: p.ring.fingerprints[number]}
	found, err := p.network.Find(ctx, p.id, k, all)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	a := Answer{Found: found.Found, Over: found.Over}
	for _, h := range found.Holders {
		a.Holders = append(a.Holders, p.ids[h])
	}
	if !all && len(a.Holders) > 0 {
		a.Over = a.Found // that will do
	}
	return a, nil
}

// Close ends the run of all.
func (p drivenPeer) Close() error {
	p.network.Close()
	return nil
}
