package testnet

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// cast is a system whose peers play a scenario on real hosts. Methods but ask are called one after the other.
type cast interface {
	// start lets the peers begin that are there from the start, on hosts that are open.
	start(ctx context.Context) error
	// leave ends a peer, come begins it again. Connections are closed by then, and may be opened.
	leave(p strategy.ID)
	come(ctx context.Context, p strategy.ID) error
	// change tells a peer of a change of its collection.
	change(ctx context.Context, c sim.Change)
	// ask runs a query to its end.
	ask(ctx context.Context, p strategy.ID, key uint32) (found, error)
	// heal notes that a partition is over.
	heal()
	// upkeep and query say which protocols are for what.
	upkeep(protocol.ID) bool
	query(protocol.ID) bool
	close()
}

// Stage plays a plan on real hosts, over lines of TCP with the rates and latencies of the plan. It takes as much time
// as the scenario. A peer that is away, or beyond a partition, refuses connections. The strategy called venn is venn's
// nodes themselves; others run as in [StrategySystem]. When ctx ends, it returns what is known by then and ctx's error.
// Errors match [ErrConfig] where the scenario has what cannot be staged.
func Stage(ctx context.Context, p *scenario.Plan, s strategy.Strategy, progress func(Progress)) (*scenario.Run, error) {
	if p.Loss > 0 || p.Reordered > 0 || p.Duplicated > 0 {
		return nil, fmt.Errorf("%w: scenario %s: lines of TCP lose nothing and keep the order, its loss, reordered and duplicated are for the simulator", ErrConfig, p.Name)
	}
	t := &stage{plan: p, held: sim.NewHeld(p.Data), gate: newGate(p), progress: progress, number: map[peer.ID]int{}, keys: make(map[string]uint32, len(p.Keys))}
	for k, key := range p.Keys {
		t.keys[string(key)] = uint32(k)
	}
	if t.progress == nil {
		t.progress = func(Progress) {}
	}
	defer t.close()
	var err error
	if t.cast, err = t.systemOf(s); err != nil {
		return nil, err
	}
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	t.began = time.Now()
	for _, m := range t.meters {
		m.start = t.began
	}
	if err := t.cast.start(ctx); err != nil {
		return nil, err
	}
	err = t.play(ctx)
	return t.report(s), err
}

// stage is a run of a plan.
type stage struct {
	plan     *scenario.Plan
	cast     cast
	wires    stagedWires
	hosts    []host.Host
	meters   []*meter
	conns    []*connections
	number   map[peer.ID]int
	keys     map[string]uint32 // their numbers
	gate     *gate
	began    time.Time
	progress func(Progress)

	mu      sync.Mutex
	held    *sim.Held
	queries []scenario.Query
	wrong   int
	seconds []scenario.Second
	last    sent
}

// holds says whether a peer holds a key now.
func (t *stage) holds(p strategy.ID, key uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held.Holds(p, key)
}

// collection are the keys that a peer holds now.
func (t *stage) collection(p strategy.ID) []uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.held.Collection(p))
}

// open opens a host for every peer.
func (t *stage) open(ctx context.Context) error {
	cfg := Config{Seed: t.plan.Seed}
	identities := cfg.random(identifying)
	t.wires.plan, t.wires.began = t.plan, map[string]strategy.ID{}
	for i := range t.plan.Data.Peers() {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, err := identity(identities)
		if err != nil {
			return err
		}
		m := newMeter(time.Now())
		h, err := t.wires.host(strategy.ID(i), key, m, t.gate, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0))
		if err != nil {
			return err
		}
		c := &connections{}
		h.Network().Notify(c)
		t.number[h.ID()] = i
		t.gate.name(h.ID(), strategy.ID(i))
		t.hosts, t.meters, t.conns = append(t.hosts, h), append(t.meters, m), append(t.conns, c)
		t.progress(Progress{Starting, i + 1, t.plan.Data.Peers()})
	}
	return nil
}

// found is what a query has brought.
type found struct {
	holders                  []int // -1: a stranger
	first                    time.Duration
	messages, probes, wasted int // as far as the asker knows; 0 where it doesn't
}

// scene is something that happens at a time.
type scene struct {
	at time.Duration
	do func(ctx context.Context) error
}

// play plays the script to its end.
func (t *stage) play(ctx context.Context) error {
	var asking errgroup.Group
	defer asking.Wait() //nolint:errcheck // asked for below
	counted := make(chan struct{})
	counting, stop := context.WithCancel(ctx)
	go func() {
		defer close(counted)
		t.count(counting)
	}()
	defer func() {
		stop()
		<-counted
	}()
	scenes := t.scenes(ctx, &asking)
	for i, s := range scenes {
		if err := sleep(ctx, time.Until(t.began.Add(s.at))); err != nil {
			return err
		}
		if err := s.do(ctx); err != nil {
			return err
		}
		t.progress(Progress{Querying, i + 1, len(scenes)})
	}
	if err := asking.Wait(); err != nil {
		return err
	}
	return sleep(ctx, time.Until(t.began.Add(t.plan.End())))
}

// scenes are the whole script in order of time.
func (t *stage) scenes(ctx context.Context, asking *errgroup.Group) []scene {
	var out []scene
	add := func(at time.Duration, do func(ctx context.Context) error) { out = append(out, scene{at, do}) }
	for _, m := range t.plan.Script.Moves {
		if m.At > 0 {
			add(m.At, func(ctx context.Context) error { return t.move(ctx, m) })
		}
	}
	for _, c := range t.plan.Script.Cuts {
		add(c.From, func(context.Context) error { t.gate.cut(c.Side); t.part(); return nil })
		if c.To > 0 {
			add(c.To, func(context.Context) error { t.gate.cut(nil); t.cast.heal(); return nil })
		}
	}
	for _, r := range t.plan.Script.Rates {
		add(r.At, func(context.Context) error { t.wires.lines[r.Peer].SetRates(r.Up, r.Down); return nil })
	}
	for _, c := range t.plan.Script.Changes {
		add(c.At, func(ctx context.Context) error {
			t.mu.Lock()
			t.held.Change(c)
			t.mu.Unlock()
			t.cast.change(ctx, c)
			return nil
		})
	}
	for _, q := range t.plan.Script.Asks {
		add(q.At, func(context.Context) error {
			asking.Go(func() error { return t.ask(ctx, q) })
			return nil
		})
	}
	slices.SortStableFunc(out, func(a, b scene) int { return int(a.at - b.at) })
	return out
}

// move has a peer come or go.
func (t *stage) move(ctx context.Context, m sim.Move) error {
	if t.gate.online(m.Peer) == m.Online {
		return nil
	}
	t.gate.move(m.Peer, m.Online)
	if m.Online {
		return t.cast.come(ctx, m.Peer)
	}
	if m.Killed { // its connections end before it can say goodbye
		t.disconnect(m.Peer)
	}
	t.cast.leave(m.Peer)
	t.disconnect(m.Peer)
	return nil
}

func (t *stage) disconnect(p strategy.ID) {
	for _, c := range t.hosts[p].Network().Conns() {
		_ = c.Close()
	}
}

// part closes the connections that the gate does not let pass.
func (t *stage) part() {
	for i, h := range t.hosts {
		for _, c := range h.Network().Conns() {
			if !t.gate.lets(strategy.ID(i), c.RemotePeer()) {
				_ = c.Close()
			}
		}
	}
}

// ask runs a query and judges the answer.
func (t *stage) ask(ctx context.Context, q sim.Ask) error {
	out := scenario.Query{At: q.At.Seconds(), Asker: int(q.Peer), Key: q.Key, Latency: -1}
	findable := len(t.findable(q))
	if findable == 0 || !t.gate.online(q.Peer) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(t.plan.Patience))
	defer cancel()
	f, err := t.cast.ask(ctx, q.Peer, q.Key)
	if errors.Is(err, ErrBroken) {
		return err
	}
	right, wrong := 0, 0
	out.Messages, out.Probes, out.Wasted = f.messages, f.probes, f.wasted
	for _, h := range f.holders {
		if h >= 0 && t.holds(strategy.ID(h), q.Key) {
			right++
		} else {
			wrong++
		}
	}
	mark := judge.MarkOf(right, findable, t.plan.All)
	if out.Found, out.Findable = mark.Found, mark.Findable; out.Found > 0 {
		out.Latency = float64(f.first.Microseconds()) / 1000
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queries, t.wrong = append(t.queries, out), t.wrong+wrong
	return nil
}

// findable are the holders of a key that are there, besides the asker.
func (t *stage) findable(q sim.Ask) []strategy.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.held.Holders(q.Key)), func(p strategy.ID) bool { return p == q.Peer || !t.gate.online(p) })
}

// sent is what all peers have sent so far.
type sent struct {
	upkeep, query int64
	messages      int
}

// count notes every second what was sent.
func (t *stage) count(ctx context.Context) {
	for second := 0; ; second++ {
		err := sleep(ctx, time.Until(t.began.Add(time.Duration(second+1)*time.Second)))
		now := t.sent()
		t.mu.Lock()
		t.seconds = append(t.seconds, scenario.Second{
			At: second, Online: t.gate.there(), Upkeep: now.upkeep - t.last.upkeep, Query: now.query - t.last.query, Messages: now.messages - t.last.messages,
		})
		t.last = now
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sent adds up what was sent: what the protocols wrote, the framing below as the simulator counts it, and what
// connections take.
func (t *stage) sent() (s sent) {
	for id, k := range t.protocols() {
		switch {
		case t.cast.query(id):
			s.query += k.Bytes
		default:
			s.upkeep += k.Bytes
		}
		s.messages += int(k.Messages)
	}
	for _, c := range t.conns {
		s.upkeep += c.bytes()
	}
	return s
}

// protocols are what was sent by each protocol of the system.
func (t *stage) protocols() map[protocol.ID]scenario.Kind {
	out := map[protocol.ID]scenario.Kind{}
	for _, m := range t.meters {
		writes := m.written()
		for id, n := range m.sent() {
			if t.cast.upkeep(id) || t.cast.query(id) {
				k := out[id]
				k.Name = string(id)
				k.Messages += int64(writes[id])
				k.Bytes += int64(n) + strategy.Overhead*int64(writes[id])
				out[id] = k
			}
		}
	}
	return out
}

// report sums up.
func (t *stage) report(s strategy.Strategy) *scenario.Run {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &scenario.Run{
		Scenario: t.plan.Name, Strategy: s.Name, Engine: scenario.Real, Trial: t.plan.Trial, Seed: t.plan.Seed,
		Peers: t.plan.Data.Peers(), Wrong: t.wrong, Queries: t.queries, Seconds: t.seconds,
	}
	slices.SortStableFunc(r.Queries, func(a, b scenario.Query) int {
		if a.At < b.At {
			return -1
		}
		return int(min(1, (a.At-b.At)*1e9))
	})
	n := float64(max(1, len(r.Queries)))
	told := 0 // messages that the askers know of
	for _, q := range r.Queries {
		told += q.Messages
	}
	r.Messages = float64(told) / n
	for id, k := range t.protocols() {
		if t.cast.query(id) {
			r.Bytes += float64(k.Bytes) / n
			if told == 0 {
				r.Messages += float64(k.Messages) / n
			}
			continue
		}
		r.Kinds = append(r.Kinds, k)
	}
	connect := scenario.Kind{Name: "connect"}
	for _, c := range t.conns {
		connect.Messages, connect.Bytes = connect.Messages+c.opened.Load(), connect.Bytes+c.bytes()
	}
	r.Kinds = append(r.Kinds, connect)
	slices.SortFunc(r.Kinds, func(a, b scenario.Kind) int { return int(b.Bytes - a.Bytes) })
	return r
}

func (t *stage) close() {
	t.progress(Progress{Closing, 0, 1})
	if t.cast != nil {
		t.cast.close()
	}
	var group errgroup.Group
	group.SetLimit(16)
	for _, h := range t.hosts {
		group.Go(h.Close)
	}
	_ = group.Wait()
}
