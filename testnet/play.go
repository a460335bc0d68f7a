package testnet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// beginnings returns the number of first peers at which the others begin.
func beginnings(l scenario.Links) int {
	if l.Kind == sim.Star {
		return l.Degree
	}
	return 1
}

// Stage plays a plan on real hosts, over lines of TCP with the rates and latencies of the plan. It takes as much time
// as the scenario. A peer that is away, or beyond a partition, refuses connections. The strategy called venn is venn's
// nodes themselves; others run as in [StrategySystem]. When ctx ends, it returns the result so far and ctx's error.
// Errors match [ErrConfig] if the scenario has something that cannot be staged.
func Stage(ctx context.Context, p *scenario.Plan, s strategy.Strategy, progress func(Progress)) (*scenario.Run, error) {
	if p.Loss > 0 || p.Reordered > 0 || p.Duplicated > 0 {
		return nil, fmt.Errorf("%w: scenario %s: lines of TCP lose nothing and keep the order, its loss, reordered and duplicated are for the simulator", ErrConfig, p.Name)
	}
	t := &play{stage: newStage(Config{Seed: p.Seed, Transport: TCP, Shape: true, SummaryShare: DefaultSummaryShare, Begin: beginnings(p.Links), Progress: progress}, p)}
	defer t.close()
	defer t.progress(Closing, 0, 1)
	var err error
	if t.cast, err = t.castOf(s); err != nil {
		return nil, err
	}
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	t.start()
	if err := t.cast.begin(ctx, nil); err != nil {
		return nil, err
	}
	err = t.play(ctx)
	return t.report(s), err
}

// castOf returns the cast: venn's nodes, or a strategy on package drive.
func (t *stage) castOf(s strategy.Strategy) (cast, error) {
	if s.Name == venn.Strategy.Name || s.Name == venn.Undefended.Name {
		return t.nodes(s.Name == venn.Undefended.Name)
	}
	played, err := t.plan.Strategy(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return t.driven(played, false)
}

// play is a plan's script being played.
type play struct {
	*stage

	mu      sync.Mutex // guards the fields below
	queries []sim.Query
	wrong   int
	seconds []sim.Second
	last    tally
}

// scene is an event of a script, at a time since the start.
type scene struct {
	at time.Duration
	do func(ctx context.Context) error
}

// play plays the script to its end.
func (t *play) play(ctx context.Context) error {
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
		t.progress(Querying, i+1, len(scenes))
	}
	if err := asking.Wait(); err != nil {
		return err
	}
	return sleep(ctx, time.Until(t.began.Add(t.plan.End())))
}

// scenes returns the whole script in order of time.
func (t *play) scenes(ctx context.Context, asking *errgroup.Group) []scene {
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
		add(r.At, func(context.Context) error { t.members[r.Peer].line.SetRates(r.Up, r.Down); return nil })
	}
	for _, c := range t.plan.Script.Changes {
		add(c.At, func(ctx context.Context) error { t.cast.change(ctx, c); return nil })
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

// ask runs a query and judges the answer.
func (t *play) ask(ctx context.Context, q sim.Ask) error {
	out := sim.Query{At: q.At.Seconds(), Asker: int(q.Peer), Key: q.Key, Latency: -1}
	findable := len(t.findable(q))
	if findable == 0 || !t.gate.online(q.Peer) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(t.plan.Patience))
	defer cancel()
	a, err := t.cast.ask(ctx, int(q.Peer), q.Key, t.plan.All)
	if errors.Is(err, ErrBroken) {
		return err
	}
	right, wrong := 0, 0
	out.Hops, out.Probes, out.Wasted = a.Hops, a.Probes, a.Wasted
	if out.Messages, out.Bytes = unknown, unknown; a.Stats != nil {
		out.Messages = a.Stats.Messages
	}
	for _, h := range a.Holders {
		if n := t.roster.number(h); n != stranger && t.holds(strategy.ID(n), q.Key) {
			right++
		} else {
			wrong++
		}
	}
	mark := judge.MarkOf(right, findable, t.plan.All)
	if out.Found, out.Findable = mark.Found, mark.Findable; out.Found > 0 {
		out.Latency = float64(a.First.Microseconds()) / 1000
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queries, t.wrong = append(t.queries, out), t.wrong+wrong
	return nil
}

// findable returns the holders of a query's key that are online, except the asker.
func (t *play) findable(q sim.Ask) []strategy.ID {
	return slices.DeleteFunc(slices.Clone(t.holders(q.Key)), func(p strategy.ID) bool { return p == q.Peer || !t.gate.online(p) })
}

// tally counts what all peers have sent so far.
type tally struct {
	upkeep, query int64
	messages      int
}

// count notes the bytes and messages sent in each second, until ctx ends.
func (t *play) count(ctx context.Context) {
	for second := 0; ; second++ {
		err := sleep(ctx, time.Until(t.began.Add(time.Duration(second+1)*time.Second)))
		now := t.tally()
		t.mu.Lock()
		t.seconds = append(t.seconds, sim.Second{
			At: second, Online: t.gate.there(), Upkeep: now.upkeep - t.last.upkeep, Query: now.query - t.last.query, Messages: now.messages - t.last.messages,
		})
		t.last = now
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// tally adds up the bytes sent: by the protocols, for the framing below them as the simulator counts it, and to open
// connections.
func (t *play) tally() (s tally) {
	for id, k := range t.kinds() {
		switch {
		case t.cast.query(id):
			s.query += k.Bytes
		default:
			s.upkeep += k.Bytes
		}
		s.messages += int(k.Messages)
	}
	for _, m := range t.members {
		s.upkeep += m.conns.bytes()
	}
	return s
}

// kinds counts what was sent by each protocol of the system.
func (t *play) kinds() map[protocol.ID]sim.Sent {
	out := map[protocol.ID]sim.Sent{}
	for id, v := range t.volumes() {
		if t.cast.upkeep(id) || t.cast.query(id) {
			out[id] = sim.Sent{Name: string(id), Messages: int64(v.messages), Bytes: int64(v.bytes + strategy.Overhead*v.messages)}
		}
	}
	return out
}

// report returns the result of the run.
func (t *play) report(s strategy.Strategy) *scenario.Run {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := &scenario.Run{
		Scenario: t.plan.Name, Strategy: s.Name, Engine: scenario.Real, Trial: t.plan.Trial, Seed: t.plan.Seed,
		Report: sim.Report{Peers: t.plan.Data.Peers(), Wrong: t.wrong, Queries: t.queries, Seconds: t.seconds},
	}
	slices.SortStableFunc(r.Queries, func(a, b sim.Query) int { return cmp.Compare(a.At, b.At) })
	n := float64(max(1, len(r.Queries)))
	told := 0 // messages that the askers know of: the meter cannot tell audits from confirmations
	for _, q := range r.Queries {
		told += max(0, q.Messages)
	}
	r.Messages = float64(told) / n
	for id, k := range t.kinds() {
		if t.cast.query(id) {
			r.Bytes += float64(k.Bytes) / n
			if told == 0 {
				r.Messages += float64(k.Messages) / n
			}
			continue
		}
		r.Kinds = append(r.Kinds, k)
	}
	connect := sim.Sent{Name: "connect"}
	for _, m := range t.members {
		connect.Messages, connect.Bytes = connect.Messages+m.conns.opened.Load(), connect.Bytes+m.conns.bytes()
	}
	r.Kinds = append(r.Kinds, connect)
	slices.SortFunc(r.Kinds, func(a, b sim.Sent) int { return int(b.Bytes - a.Bytes) })
	return r
}
