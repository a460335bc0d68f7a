package testnet

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/node/nodelab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/fault"
	"github.com/venn-p2p/venn/testnet/misdeed"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// cast is a system whose peers play on a stage. Methods but ask are called one after the other.
type cast interface {
	// join connects the peers, in systems that can do so before they announce. The hosts are open.
	join(ctx context.Context) error
	// begin has the online peers announce their keys. Systems that pay for each key announce only the given keys.
	begin(ctx context.Context, keys [][][]byte) error
	// settle waits until announcing is over, but no longer than most.
	settle(ctx context.Context, most time.Duration) error
	// leave ends a peer, come starts it again. The gate bars connections before leave, and allows them before come.
	leave(p strategy.ID)
	come(ctx context.Context, p strategy.ID) error
	// change changes a collection, and tells the peer.
	change(ctx context.Context, c sim.Change)
	// ask runs a query to its end. An error that matches ErrBroken ends the run.
	ask(ctx context.Context, p int, key uint32, all bool) (Answer, error)
	// heal notes that a partition is over.
	heal()
	// upkeep and query report whether a protocol is for upkeep, and for queries. A protocol may be for both.
	upkeep(protocol.ID) bool
	query(protocol.ID) bool
	close()
}

// Answer is the result of a query.
type Answer struct {
	Holders []peer.ID
	First   time.Duration    // time until the first holder was known; 0 where a comparison has no use for it
	Found   time.Duration    // time until the last holder was known
	Over    time.Duration    // time until the asker knew that there was nothing more to wait for; 0: it never does
	Hops    int              // hops to the first holder; unknown, or 0 where a comparison has no use for it
	Probes  int              // number of questions whether a peer holds the key
	Wasted  int              // number of the probes that found nothing
	Stats   *node.QueryStats // the node's figures of the query; nil: the asker is no node
}

// unknown stands for a count of a query that nobody knows.
const unknown = sim.Unknown

// nodes is the cast of venn's nodes.
type nodes struct {
	*stage
	options []node.Option
	ghosts  [][]wire.Record // records that faulty peers make up, by peer
	began   bool            // all nodes that are online at the start have begun

	mu     sync.RWMutex  // guards faults and the members' nodes
	faults []*fault.Peer // faulty peers, by peer number; nil: no faulty peer runs
}

// nodes returns a cast of venn's nodes. The error matches ErrConfig: the plan has something that nodes cannot do.
func (t *stage) nodes(undefended bool) (cast, error) {
	switch {
	case slices.ContainsFunc(t.plan.Jumps, func(j []scenario.Jump) bool { return len(j) > 0 }):
		return nil, fmt.Errorf("%w: scenario %s: nodes have no clock but the machine's, so clocks are for the simulator", ErrConfig, t.plan.Name)
	case slices.ContainsFunc(t.plan.Lines, func(l scenario.Line) bool { return min(l.Up, l.Down) < leastRate }):
		return nil, fmt.Errorf("%w: scenario %s: nodes declare %d bit/s or more, slower lines are for the simulator", ErrConfig, t.plan.Name, leastRate)
	case slices.Contains(t.plan.Older, true):
		return nil, fmt.Errorf("%w: scenario %s: there are no nodes of the version before, so those are for the simulator", ErrConfig, t.plan.Name)
	}
	n := t.plan.Data.Peers()
	v := &nodes{stage: t, faults: make([]*fault.Peer, n), options: t.cfg.nodeOptions(n)}
	if t.plan.Undefended || undefended {
		v.options = append(v.options, nodelab.Undefended(venn.Loosen))
	}
	for _, name := range slices.Sorted(maps.Keys(t.plan.Parameters)) {
		if name != strategy.Origins.Name {
			return nil, fmt.Errorf("%w: scenario %s: nodes have no parameter %s, the simulator has", ErrConfig, t.plan.Name, name)
		}
		v.options = append(v.options, node.WithOrigins(int(t.plan.Parameters[name])))
	}
	return v, nil
}

// upkeep reports whether a protocol carries summaries, tails, hellos or inquiries about peers.
func (v *nodes) upkeep(id protocol.ID) bool {
	return carriesSummaries(id) || is(id, node.HelloID, node.PeersID)
}

func (v *nodes) query(id protocol.ID) bool { return is(id, node.HaveID, node.QueryID) }

// join makes up the peers that faulty peers name. Nodes start in begin, because a node that joins also announces.
func (v *nodes) join(context.Context) (err error) {
	v.ghosts = make([][]wire.Record, len(v.all))
	for p, of := range v.plan.Invented {
		if of.Number == 0 || !v.here(p) {
			continue
		}
		rng := v.cfg.random(misbehaving + purpose(64+p))
		if v.ghosts[p], err = madeUp(v.member(p).host, of.Number, rng); err != nil {
			return fmt.Errorf("testnet: identities of peer %d: %w", p, err)
		}
	}
	return nil
}

// begin starts the nodes of all members that are online, in the order of their numbers.
func (v *nodes) begin(ctx context.Context, _ [][][]byte) error {
	for i, m := range v.members {
		p := strategy.ID(m.number)
		if !v.gate.online(p) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := v.come(ctx, p); err != nil {
			return err
		}
		v.observeStarted(m)
		v.progress(Starting, i+1, len(v.members))
	}
	v.began = true
	return nil
}

// settledAfter is the time without new bytes of summaries after which settle waits no longer for a node.
const settledAfter = 5 * time.Second

// settle waits until every peer knows every other and has learned nothing more for settledAfter, but no longer than most.
func (v *nodes) settle(ctx context.Context, most time.Duration) error {
	end := time.Now().Add(most)
	return v.together(Spreading, func(i int) error {
		held, since := int64(-1), time.Now()
		for time.Now().Before(end) {
			s, err := v.members[i].node.Status(ctx)
			if err != nil {
				return err
			}
			if b := int64(s.BytesHeld); b != held {
				held, since = b, time.Now()
			}
			if s.Origins == len(v.all)-1 && time.Since(since) >= settledAfter {
				return nil
			}
			if err := sleep(ctx, pollEvery); err != nil {
				return err
			}
		}
		return nil
	})
}

// isNode reports whether a peer runs a node: not if it is silent, or speaks the protocols wrongly.
func (v *nodes) isNode(p int) bool {
	kind := v.plan.Adversaries[p]
	return kind != scenario.Silent && (kind == "" || scenario.OfAny(kind))
}

// beginnings returns the peers that a peer begins at: the first other nodes that are online. At the start of the run,
// their numbers must be lower than its own, so that they have begun before it.
func (v *nodes) beginnings(p int) (begin []peer.AddrInfo) {
	for j, info := range v.all {
		if len(begin) == v.cfg.Begin || !v.began && j >= p {
			return begin
		}
		if j != p && v.isNode(j) && v.gate.online(strategy.ID(j)) {
			begin = append(begin, info)
		}
	}
	return begin
}

// come starts a node, or a peer that misbehaves.
func (v *nodes) come(_ context.Context, p strategy.ID) error {
	kind := v.plan.Adversaries[p]
	switch {
	case kind == scenario.Silent:
		return nil
	case !v.isNode(int(p)):
		return v.lie(p, kind)
	}
	l, m := v.plan.Line(p), v.member(int(p))
	var held keystore.Keys = m.keys
	if kind != "" {
		held = &dishonest{m.keys, v.plan, kind}
	}
	n, err := node.New(m.host, append([]node.Option{
		node.WithNetwork(Network, 0), node.WithBandwidth(uint64(l.Up), uint64(l.Down)), node.WithKeys(held),
		node.WithRandomness(v.plan.Seed<<16 + uint64(p)), node.WithBootstrap(v.beginnings(int(p))...),
	}, v.options...)...)
	if err != nil {
		return fmt.Errorf("testnet: peer %s: %w", m.name, err)
	}
	if kind == scenario.FreeRider {
		m.host.RemoveStreamHandler(protocolID(node.HaveID))
		m.host.RemoveStreamHandler(protocolID(node.QueryID))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	m.node = n
	return nil
}

func (v *nodes) leave(p strategy.ID) {
	m := v.member(int(p))
	v.mu.Lock()
	n, f := m.node, v.faults[p]
	m.node, v.faults[p] = nil, nil
	v.mu.Unlock()
	if n != nil {
		_ = n.Close()
	}
	if f != nil {
		f.Close()
	}
}

func (v *nodes) node(p int) *node.Node {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.member(p).node
}

func (v *nodes) change(ctx context.Context, c sim.Change) {
	if n := v.node(int(c.Peer)); n != nil && c.Held {
		_, _ = n.Add(ctx, v.key(c.Key))
	} else if n != nil {
		_, _ = n.Remove(ctx, v.key(c.Key))
	}
	v.truth.change(c.Peer, c.Key, c.Held) // no effect if the node's store has made the change
}

// ask runs a query at the node of peer p. Without a node, the answer is empty.
func (v *nodes) ask(ctx context.Context, p int, key uint32, all bool) (a Answer, err error) {
	n := v.node(p)
	if n == nil {
		return a, nil
	}
	began := time.Now()
	results, err := n.Query(ctx, v.key(key), node.QueryOptions{All: all, Timeout: time.Duration(v.plan.Patience)})
	if err != nil {
		return a, err
	}
	for info := range results.Providers() {
		a.Holders, a.Found = append(a.Holders, info.ID), time.Since(began)
		if len(a.Holders) == 1 {
			a.First = a.Found
		}
	}
	a.Over = time.Since(began)
	stats, err := results.Stats()
	a.Hops, a.Probes, a.Wasted, a.Stats = unknown, stats.Probes, stats.FalseProbes, &stats // confirmations go straight to holders
	return a, err
}

func (v *nodes) heal() {} // nodes reconnect by themselves

func (v *nodes) close() {
	v.closeNodes()
	for _, f := range v.faults {
		if f != nil {
			f.Close()
		}
	}
}

// lie starts a faulty peer in the place of a node. It harms honest peers that are online.
func (v *nodes) lie(p strategy.ID, kind string) error {
	cfg := fault.Config{Kind: kind, Twin: misdeed.HasTwin(kind, int(p)), Ghosts: v.ghosts[p], Every: strategy.MisdeedEvery}
	if kind == misdeed.Identities {
		cfg.Every = v.plan.Invented[p].Pace(wire.MaxHelloRecords)
	}
	started, err := v.misbehave(v.member(int(p)).host, cfg, v.cfg.random(joining+purpose(64+p)), func(q int) bool {
		return v.plan.Adversaries[q] == "" && v.gate.online(strategy.ID(q))
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults[p] = started
	return err
}

// dishonest is the store of an adversary that denies or claims keys, as its kind does.
type dishonest struct {
	*keys
	plan *scenario.Plan
	kind string
}

// Has returns the answer that the peer gives; the error is always nil.
func (d *dishonest) Has(key []byte) (bool, error) {
	number, known := d.lookup(key)
	if d.kind == scenario.Liar || known && d.kind == scenario.Censor && d.data.Key(number).Fingerprint%10 == 0 {
		return d.kind == scenario.Liar, nil
	}
	return d.keys.Has(key)
}

// Fingerprints returns the fingerprints of the keys held, and of the keys that a liar claims.
func (d *dishonest) Fingerprints() iter.Seq[summary.Fingerprint] {
	return slices.Values(d.plan.Claimed(d.fingerprints)(d.of))
}
