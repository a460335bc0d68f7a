package testnet

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// stage is a network of real hosts on which a system plays a plan. Its user decides what is played and observed: the
// scenes of a scenario, the queries of a testnet, the phases of a comparison.
type stage struct {
	*truth
	cfg     Config // how hosts and nodes are made
	roster  roster // numbers of all peers of the run
	wires   *wires
	members []*member // the peers of this process, ascending by number
	gate    *gate
	parts   *parts          // nil: all peers are members
	all     []peer.AddrInfo // all peers, also those of other processes
	cast    cast            // nil: none has been opened yet
	aside   []func()        // ends the faulty peers beside the plan's
	began   time.Time       // time from which bytes are counted in windows
}

// newStage makes a stage without hosts. The caller closes it.
func newStage(cfg Config, p *scenario.Plan) *stage {
	s := &stage{cfg: cfg, truth: newTruth(p), began: time.Now()}
	s.gate = newGate(p, &s.roster)
	return s
}

// here reports whether a peer is one of this process.
func (t *stage) here(peer int) bool { return t.cfg.Part.Has(peer) }

// member returns a peer of this process by its number.
func (t *stage) member(peer int) *member { return t.members[peer/max(1, t.cfg.Part.Of)] }

// class returns the name of a member's class of lines.
func (t *stage) class(m *member) string { return t.plan.Lines[m.class].Name }

func (t *stage) progress(p Phase, done, total int) {
	if t.cfg.Progress != nil {
		t.cfg.Progress(Progress{p, done, total})
	}
}

// open opens a host for every peer of this process, notes the addresses of the others, and has the cast join.
func (t *stage) open(ctx context.Context) error {
	t.wires = newWires(t.cfg.Transport, &t.roster)
	t.wires.gate = t.gate
	if t.cfg.Shape {
		t.wires.latency = t.latency
	}
	identities := t.cfg.random(identifying)
	for i, name := range t.plan.Names {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, err := identity(identities)
		if err != nil {
			return fmt.Errorf("testnet: identity of peer %s: %w", name, err)
		}
		if !t.here(i) {
			info, err := t.parts.peer(i, key)
			if err != nil {
				return err
			}
			t.roster.add(info.ID, i)
			t.all = append(t.all, info)
			continue
		}
		l := t.plan.Line(strategy.ID(i))
		m, err := t.openMember(site{number: i, key: key, up: uint64(l.Up), down: uint64(l.Down), listens: t.parts.listen(i)})
		if err != nil {
			return err
		}
		m.name, m.class, m.keys = name, t.plan.Class[i], t.keysOf(i)
		t.all = append(t.all, m.info())
		t.progress(Starting, len(t.members), t.cfg.Part.peers(len(t.plan.Names)))
	}
	if err := t.parts.reach(ctx, hostsListen); err != nil {
		return err
	}
	return t.cast.join(ctx)
}

// start has time begin: bytes are counted in windows from now on.
func (t *stage) start() {
	t.began = time.Now()
	for _, m := range t.members {
		m.meter.start = t.began
	}
}

// together calls do for every member, all at one time, and returns the first error.
func (t *stage) together(phase Phase, do func(i int) error) error {
	var mu sync.Mutex
	done := 0
	var group errgroup.Group
	for i := range t.members {
		group.Go(func() error {
			err := do(i)
			mu.Lock()
			defer mu.Unlock()
			done++
			t.progress(phase, done, len(t.members))
			return err
		})
	}
	return group.Wait()
}

// feed runs the queries 0 to queries-1 until ctx ends, at most limit at one time. It starts one per interval of length
// every. It returns the first error.
func feed(ctx context.Context, queries, limit int, every time.Duration, query func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(limit)
	began := time.Now()
	for i := range queries {
		if sleep(ctx, time.Until(began.Add(time.Duration(i)*every))) != nil {
			break
		}
		group.Go(func() error { return query(i) })
	}
	return group.Wait()
}

// latency returns the plan's latency between two peers; lineLatency if one of them is a stranger.
func (t *stage) latency(from, to int) time.Duration {
	if from == stranger || to == stranger {
		return lineLatency
	}
	return t.plan.Latency(strategy.ID(from), strategy.ID(to))
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
	for _, c := range t.members[p].host.Network().Conns() {
		_ = c.Close()
	}
}

// part closes the connections that the gate does not let pass.
func (t *stage) part() {
	for i, m := range t.members {
		for _, c := range m.host.Network().Conns() {
			if !t.gate.lets(i, c.RemotePeer()) {
				_ = c.Close()
			}
		}
	}
}

// close ends the system, then the faulty peers, then the hosts.
func (t *stage) close() {
	t.parts.close()
	if t.cast != nil {
		t.cast.close()
	}
	for _, end := range t.aside {
		end()
	}
	runs.Parallel(len(t.members), 4*runtime.GOMAXPROCS(0), func(i int) { _ = t.members[i].host.Close() })
	if t.wires != nil {
		t.wires.close()
	}
}
