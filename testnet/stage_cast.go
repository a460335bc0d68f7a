package testnet

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/defence"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/drive"
	"github.com/venn-p2p/venn/testnet/fault"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// systemOf is what plays: venn's nodes, or a strategy on package drive.
func (t *stage) systemOf(s strategy.Strategy) (cast, error) {
	if s.Name != venn.Strategy.Name && s.Name != venn.Undefended.Name {
		played, err := t.plan.Strategy(s)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		return newStagedStrategy(t, played)
	}
	switch {
	case slices.ContainsFunc(t.plan.Jumps, func(j []scenario.Jump) bool { return len(j) > 0 }):
		return nil, fmt.Errorf("%w: scenario %s: nodes have no clock but the machine's, so clocks are for the simulator", ErrConfig, t.plan.Name)
	case slices.ContainsFunc(t.plan.Lines, func(l scenario.Line) bool { return min(l.Up, l.Down) < leastRate }):
		return nil, fmt.Errorf("%w: scenario %s: nodes declare %d bit/s or more, slower lines are for the simulator", ErrConfig, t.plan.Name, leastRate)
	case slices.Contains(t.plan.Older, true):
		return nil, fmt.Errorf("%w: scenario %s: there are no nodes of the version before, so those are for the simulator", ErrConfig, t.plan.Name)
	}
	v := &stagedNodes{stage: t, nodes: make([]*node.Node, t.plan.Data.Peers()), faults: make([]*fault.Peer, t.plan.Data.Peers()), options: []node.Option{
		node.WithSummaryCache(cache.New(cacheBytes)), node.WithHeaderCache(signed.NewCache(1 << 12)),
	}}
	if t.plan.Undefended || s.Name == venn.Undefended.Name {
		v.options = append(v.options, node.WithoutDefences(^defence.Off(0)))
	}
	for _, name := range slices.Sorted(maps.Keys(t.plan.Parameters)) {
		if name != strategy.Origins.Name {
			return nil, fmt.Errorf("%w: scenario %s: nodes have no parameter %s, the simulator has", ErrConfig, t.plan.Name, name)
		}
		v.options = append(v.options, node.WithOrigins(int(t.plan.Parameters[name])))
	}
	return v, nil
}

// stagedNodes are venn's nodes.
type stagedNodes struct {
	*stage
	options []node.Option
	ghosts  [][]wire.Record // that faulty peers make up
	mu      sync.RWMutex
	nodes   []*node.Node  // nil: away, or none
	faults  []*fault.Peer // nil: away, or none
}

func (v *stagedNodes) upkeep(id protocol.ID) bool { return VennSystem().Upkeep(id) }
func (v *stagedNodes) query(id protocol.ID) bool  { return VennSystem().Query(id) }

func (v *stagedNodes) start(ctx context.Context) error {
	if err := v.invent(); err != nil {
		return err
	}
	v.began = time.Now() // who is made up is so before time begins
	for i := range v.nodes {
		if p := strategy.ID(i); v.gate.online(p) {
			if err := v.come(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// isNode says whether a peer runs a node: not if it is silent, or speaks the protocols wrongly.
func (v *stagedNodes) isNode(p strategy.ID) bool {
	kind := v.plan.Adversaries[p]
	return kind != scenario.Silent && (kind == "" || scenario.OfAny(kind))
}

// come starts a node, which begins at the first other that is there.
func (v *stagedNodes) come(_ context.Context, p strategy.ID) error {
	kind := v.plan.Adversaries[p]
	switch {
	case kind == scenario.Silent:
		return nil
	case !v.isNode(p):
		return v.misbehave(p, kind)
	}
	var begin []peer.AddrInfo
	for j, h := range v.hosts {
		if q := strategy.ID(j); q != p && v.gate.online(q) && v.isNode(q) && len(begin) < 1 {
			begin = append(begin, *host.InfoFromHost(h))
		}
	}
	l := v.plan.Line(p)
	n, err := node.New(v.hosts[p], append([]node.Option{
		node.WithNetwork(Network, 0), node.WithBandwidth(uint64(l.Up), uint64(l.Down)), node.WithKeys(&stagedKeys{v.stage, p, kind}),
		node.WithRandomness(v.plan.Seed<<16 + uint64(p)), node.WithBootstrap(begin...),
	}, v.options...)...)
	if err != nil {
		return fmt.Errorf("testnet: peer %d: %w", p, err)
	}
	if kind == scenario.FreeRider {
		v.hosts[p].RemoveStreamHandler(protocolID(node.HaveID))
		v.hosts[p].RemoveStreamHandler(protocolID(node.QueryID))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.nodes[p] = n
	return nil
}

func (v *stagedNodes) leave(p strategy.ID) {
	v.mu.Lock()
	n, f := v.nodes[p], v.faults[p]
	v.nodes[p], v.faults[p] = nil, nil
	v.mu.Unlock()
	if n != nil {
		_ = n.Close()
	}
	if f != nil {
		f.Close()
	}
}

func (v *stagedNodes) node(p strategy.ID) *node.Node {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.nodes[p]
}

func (v *stagedNodes) change(ctx context.Context, c sim.Change) {
	n := v.node(c.Peer)
	if n == nil {
		return
	}
	if c.Held {
		_, _ = n.Add(ctx, v.plan.Keys[c.Key])
		return
	}
	_, _ = n.Remove(ctx, v.plan.Keys[c.Key])
}

func (v *stagedNodes) ask(ctx context.Context, p strategy.ID, key uint32) (f found, err error) {
	n := v.node(p)
	if n == nil {
		return f, nil
	}
	began := time.Now()
	results, err := n.Query(ctx, v.plan.Keys[key], node.QueryOptions{All: v.plan.All, Timeout: time.Duration(v.plan.Patience)})
	if err != nil {
		return f, err
	}
	for info := range results.Providers() {
		if len(f.holders) == 0 {
			f.first = time.Since(began)
		}
		i, known := v.number[info.ID]
		if !known {
			i = -1
		}
		f.holders = append(f.holders, i)
	}
	stats, err := results.Stats()
	f.messages, f.probes, f.wasted = stats.Messages, stats.Probes, stats.FalseProbes
	return f, err
}

func (v *stagedNodes) heal() {} // they find each other again by themselves

func (v *stagedNodes) close() {
	for i := range v.nodes {
		v.leave(strategy.ID(i))
	}
}

// stagedKeys are a peer's keys, as the stage has them; a liar and a censor say otherwise.
type stagedKeys struct {
	*stage
	of   strategy.ID
	kind string
}

// Add says that the key is new: the stage has taken it in by then.
func (k *stagedKeys) Add([]byte, summary.Fingerprint) (bool, error) { return true, nil }

// Remove says that the key was there.
func (k *stagedKeys) Remove([]byte) (bool, error) { return true, nil }

// Has says whether the key is held; the error is always nil.
func (k *stagedKeys) Has(key []byte) (bool, error) {
	number, known := k.keys[string(key)]
	switch {
	case k.kind == scenario.Liar:
		return true, nil
	case !known, k.kind == scenario.Censor && k.plan.Data.Key(number).Fingerprint%10 == 0:
		return false, nil
	}
	return k.holds(k.of, number), nil
}

// Len is the number of keys held.
func (k *stagedKeys) Len() (int, error) { return len(k.collection(k.of)), nil }

// Keys are those held.
func (k *stagedKeys) Keys(context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, n := range k.collection(k.of) {
			if !yield(k.plan.Keys[n], nil) {
				return
			}
		}
	}
}

// Fingerprints are those of the keys held, and of those that a liar claims.
func (k *stagedKeys) Fingerprints() iter.Seq[summary.Fingerprint] {
	return slices.Values(k.plan.Claimed(k.fingerprints)(k.of))
}

// stagedStrategy is a strategy on package drive.
type stagedStrategy struct {
	*stage
	network *drive.Network
}

func newStagedStrategy(t *stage, s strategy.Strategy) (cast, error) {
	rules, n := links.Of(&s, t.plan.Links.Degree), t.plan.Data.Peers()
	topology := sim.Topology{Kind: sim.Kind(t.plan.Links.Kind), Degree: rules.Degree}
	cfg := Config{Seed: t.plan.Seed}
	rng := cfg.random(wiring)
	edges := t.plan.Edges
	if edges == nil {
		edges = topology.Edges(n, rng)
	}
	edges = rules.Start(edges, n, t.gate.online, rng)
	d := &stagedStrategy{stage: t}
	var err error
	d.network, err = drive.New(drive.Config{
		Strategy: s, Links: edges, Degree: t.plan.Links.Degree, Holds: func(p strategy.ID, k strategy.Key) bool { return t.holds(p, k.Number) }, Away: func(p strategy.ID) bool { return !t.gate.online(p) },
		World: strategy.World{
			Peers: t.plan.Data.Peers(), Seed: t.plan.Seed, Params: t.plan.Params(), Latency: t.plan.Latency, Online: t.gate.online,
			Rates:      func(p strategy.ID) (up, down uint64) { l := t.plan.Line(p); return uint64(l.Up), uint64(l.Down) },
			Collection: t.fingerprints,
			Holders: func(k strategy.Key) []strategy.ID {
				t.mu.Lock()
				defer t.mu.Unlock()
				return slices.Clone(t.held.Holders(k.Number))
			},
		},
	})
	return d, err
}

func (d *stagedStrategy) upkeep(id protocol.ID) bool { return id == drive.UpkeepID }
func (d *stagedStrategy) query(id protocol.ID) bool  { return id == drive.QueryID }

func (d *stagedStrategy) start(ctx context.Context) error {
	for _, h := range d.hosts {
		if err := d.network.Add(h); err != nil {
			return err
		}
	}
	if err := d.network.Link(ctx); err != nil {
		return err
	}
	d.began = time.Now() // the links of the topology are there when time begins, as in the simulator
	d.network.Start()
	return nil
}

func (d *stagedStrategy) leave(p strategy.ID) { d.network.Leave(p) }

func (d *stagedStrategy) come(_ context.Context, p strategy.ID) error {
	d.network.Come(p)
	return nil
}

func (d *stagedStrategy) change(_ context.Context, c sim.Change) {
	d.network.Changed(c.Peer, strategy.Changed{Key: d.plan.Data.Key(c.Key), Held: c.Held})
}

func (d *stagedStrategy) ask(ctx context.Context, p strategy.ID, key uint32) (f found, err error) {
	a, err := d.network.Find(ctx, p, d.plan.Data.Key(key), d.plan.All)
	if err != nil {
		return f, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	f.first = a.First
	for _, h := range a.Holders {
		f.holders = append(f.holders, int(h))
	}
	return f, nil
}

func (d *stagedStrategy) heal() { d.network.Relink() }

func (d *stagedStrategy) close() { d.network.Close() }
