package testnet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/testnet/drive"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

const (
	linksEach     = 8   // default mean number of links a peer
	mostDrawnOnce = 100 // most topologies drawn until one is connected
)

// driven is a cast: a strategy that package drive runs on the hosts.
type driven struct {
	*stage
	network *drive.Network
}

// driven returns a cast that plays a strategy. If whole is true, its links must connect all peers. Errors match
// ErrConfig, or come from the strategy's Open.
func (t *stage) driven(s strategy.Strategy, whole bool) (cast, error) {
	d, opened := &driven{stage: t}, t.edges(&s)
	if n := t.plan.Data.Peers(); whole && sim.Components(n, opened) > 1 {
		return nil, fmt.Errorf("%w: %d links do not connect %d peers", ErrConfig, len(opened), n)
	}
	var err error
	d.network, err = drive.New(drive.Config{
		Strategy: s, Links: opened, Degree: t.plan.Links.Degree,
		Holds: func(p strategy.ID, k strategy.Key) bool { return t.holds(p, k.Number) },
		World: strategy.World{
			Peers: t.plan.Data.Peers(), Seed: t.plan.Seed, Params: t.plan.Params(), Latency: t.plan.Latency, Online: t.gate.online,
			Rates:      func(p strategy.ID) (up, down uint64) { l := t.plan.Line(p); return uint64(l.Up), uint64(l.Down) },
			Collection: t.fingerprints,
			Holders:    func(k strategy.Key) []strategy.ID { return slices.Clone(t.holders(k.Number)) },
		},
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// edges returns the links at the start: the plan's, or a random topology's. It draws at most mostDrawnOnce topologies
// until one connects all peers, else it takes the last.
func (t *stage) edges(s *strategy.Strategy) [][2]strategy.ID {
	rules, n := links.Of(s, t.plan.Links.Degree), t.plan.Data.Peers()
	rng, edges := t.cfg.random(wiring), t.plan.Edges
	if edges == nil {
		topology := t.plan.Links.For(rules)
		for range mostDrawnOnce {
			if edges = topology.Edges(n, rng); sim.Components(n, edges) == 1 {
				break
			}
		}
	}
	return rules.Start(edges, n, t.gate.online, rng)
}

func (d *driven) upkeep(id protocol.ID) bool { return id == drive.UpkeepID }
func (d *driven) query(id protocol.ID) bool  { return id == drive.QueryID }

// join opens the links of the topology: they are there when time begins, as in the simulator.
func (d *driven) join(ctx context.Context) error {
	for _, m := range d.members {
		d.network.Add(m.host)
	}
	return d.network.Link(ctx)
}

// begin starts all peers: a strategy announces keys by itself.
func (d *driven) begin(context.Context, [][][]byte) error {
	d.network.Start()
	return nil
}

// settle waits until no peer sends or plans anything any more, but no longer than most, because gossip never ends.
func (d *driven) settle(ctx context.Context, most time.Duration) error {
	return d.network.Settle(ctx, most)
}

func (d *driven) leave(p strategy.ID) { d.network.Leave(p) }

func (d *driven) come(_ context.Context, p strategy.ID) error {
	d.network.Come(p)
	return nil
}

func (d *driven) change(_ context.Context, c sim.Change) {
	d.truth.change(c.Peer, c.Key, c.Held)
	d.network.Changed(c.Peer, strategy.Changed{Key: d.data.Key(c.Key), Held: c.Held})
}

func (d *driven) ask(ctx context.Context, p int, key uint32, all bool) (Answer, error) {
	found, err := d.network.Find(ctx, strategy.ID(p), d.data.Key(key), all)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	a := Answer{First: found.First, Found: found.Found, Over: found.Over, Hops: found.Hops, Probes: found.Probes, Wasted: found.Wasted}
	for _, h := range found.Holders {
		a.Holders = append(a.Holders, d.all[h].ID)
	}
	if !all && len(a.Holders) > 0 {
		a.Over = a.Found // one holder is enough
	}
	return a, nil
}

func (d *driven) heal() { d.network.Relink() }

func (d *driven) close() { d.network.Close() }
