package tails_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// net is machines on one virtual clock, whose messages take a while.
type net struct {
	t       testing.TB
	now     time.Duration
	delay   time.Duration
	peers   map[wire.PeerID]*peer
	names   []wire.PeerID
	flying  []flight
	lose    func(from, to wire.PeerID) bool
	watch   func(from, to wire.PeerID, it wire.TailItem)
	trace   strings.Builder
	quiet   bool // no trace
	reports map[event.Fault]int
	most    int // changes that each keeps of others; 0: the default

	limits tails.Limits
}

type flight struct {
	at       time.Duration
	from, to wire.PeerID
	items    []wire.TailItem
}

type peer struct {
	*net
	id       wire.PeerID
	machine  *tails.Machine
	header   summary.Header
	epochs   map[wire.PeerID]summary.Header // that it holds
	links    map[wire.PeerID]bool
	keys     map[summary.Fingerprint]bool
	room     int
	wake     time.Duration
	slow     time.Duration // for which what comes waits
	sent     int           // bytes
	writes   int           // messages
	verified int           // signatures
	hides    bool

	advanced map[wire.PeerID]tails.Advanced // the last of each origin
}

var errForged = errors.New("forged")

func signature(origin string, message []byte) []byte {
	s := sha256.Sum256(append([]byte(origin+" signs "), message...))
	return append(s[:], s[:]...)
}

func verify(origin string, message, sig []byte) error {
	if !bytes.Equal(sig, signature(origin, message)) {
		return errForged
	}
	return nil
}

func newNet(t testing.TB, names string) *net {
	n := &net{t: t, delay: 10 * time.Millisecond, peers: map[wire.PeerID]*peer{}, reports: map[event.Fault]int{}}
	for name := range strings.FieldsSeq(names) {
		n.add(name)
	}
	return n
}

// acquainted returns a net of peers that know each other. Pairs like "a-b c-d" are linked.
func acquainted(t testing.TB, names, pairs string) *net {
	n := newNet(t, names)
	n.all(func(p, q *peer) { p.learn(q) })
	for pair := range strings.FieldsSeq(pairs) {
		a, b, _ := strings.Cut(pair, "-")
		n.link(wire.PeerID(a), wire.PeerID(b))
	}
	return n
}

// newLine returns a net of a, b and c who know each other. The links are a to b and b to c.
func newLine(t testing.TB) *net {
	n := acquainted(t, "a b c", "a-b b-c")
	n.run(time.Second)
	return n
}

func (n *net) add(name string) {
	p := &peer{
		net: n, id: wire.PeerID(name), epochs: map[wire.PeerID]summary.Header{}, links: map[wire.PeerID]bool{}, advanced: map[wire.PeerID]tails.Advanced{},
		keys: map[summary.Fingerprint]bool{}, room: 1 << 20, wake: -1,
	}
	p.machine = tails.New(tails.Config{
		Self: p.id, Verify: func(origin string, message, sig []byte) error { p.verified++; return verify(origin, message, sig) },
		Room:       func(wire.PeerID) int { return p.room },
		MaxChanges: n.most, Limits: n.limits, Sign: func(m []byte) ([]byte, error) { return signature(string(p.id), m), nil },
		Header: func(q wire.PeerID) (summary.Header, bool) { h, ok := p.epochs[q]; return h, ok },
		Rate:   func(wire.PeerID) (out, in float64) { return 1 << 20, 1 << 20 },
		Hides:  func(wire.PeerID) bool { return p.hides },
		Pulse:  func() time.Duration { return time.Second },
	})
	n.peers[p.id] = p
	n.names = append(n.names, p.id)
	p.publish(1)
}

// publish makes a new epoch of a peer's, of what it holds.
func (p *peer) publish(seq uint32) {
	s, err := summary.Build(slices.Collect(maps.Keys(p.keys)), summary.Header{Origin: string(p.id), Epoch: summary.Epoch{Generation: 1, Sequence: seq}, Lifetime: time.Hour})
	if err != nil {
		p.t.Fatal(err)
	}
	p.header = s.Header()
	p.step(event.Published{Stream: s})
}

func (p *peer) learn(q *peer) {
	p.epochs[q.id] = q.header
	p.step(event.Learned{Origin: q.id})
}

func (n *net) link(a, b wire.PeerID) {
	n.peers[a].links[b], n.peers[b].links[a] = true, true
	n.peers[a].step(event.HelloReceived{Peer: b, Hello: wire.Hello{Tails: true}})
	n.peers[b].step(event.HelloReceived{Peer: a, Hello: wire.Hello{Tails: true}})
}

func (n *net) unlink(a, b wire.PeerID) {
	delete(n.peers[a].links, b)
	delete(n.peers[b].links, a)
	n.peers[a].step(event.LinkClosed{Peer: b})
	n.peers[b].step(event.LinkClosed{Peer: a})
}

func (n *net) all(f func(a, b *peer)) {
	for _, a := range n.names {
		for _, b := range n.names {
			if a != b {
				f(n.peers[a], n.peers[b])
			}
		}
	}
}

func (p *peer) step(in event.Input) {
	if !p.quiet {
		fmt.Fprintf(&p.trace, "%v %s %T\n", p.now, p.id, in)
	}
	for _, e := range slices.Clone(p.machine.Step(p.now, in)) {
		if !p.quiet {
			fmt.Fprintf(&p.trace, "  %T %v\n", e, e)
		}
		switch e := e.(type) {
		case tails.Send:
			p.sent += wire.Tails(e.Items).Size()
			p.writes++
			for _, it := range e.Items {
				if p.watch != nil {
					p.watch(p.id, e.To, it)
				}
			}
			if p.lose == nil || !p.lose(p.id, e.To) {
				p.flying = append(p.flying, flight{p.now + p.delay + p.peers[e.To].slow, p.id, e.To, e.Items})
			}
		case tails.Advanced:
			if last := p.advanced[e.Origin]; e.Epoch == last.Epoch && e.Number <= last.Number {
				p.t.Errorf("%s says of %s: %v after %v", p.id, e.Origin, e, last)
			}
			p.advanced[e.Origin] = e
		case event.Report:
			p.reports[e.Fault]++
		case event.Wake:
			p.wake = e.At
		}
	}
	if err := p.machine.Check(); err != nil {
		p.t.Fatal(p.id, err)
	}
}

// change adds and removes keys at a peer.
func (p *peer) change(added, removed []summary.Fingerprint) {
	for _, f := range added {
		p.keys[f] = true
	}
	for _, f := range removed {
		delete(p.keys, f)
	}
	p.step(tails.Changed{Added: added, Removed: removed})
}

func (n *net) run(until time.Duration) {
	for {
		next := until + 1
		for _, f := range n.flying {
			next = min(next, f.at)
		}
		for _, id := range n.names {
			if p := n.peers[id]; p.wake >= n.now && p.wake >= 0 {
				next = min(next, p.wake)
			}
		}
		if next > until {
			n.now = until
			return
		}
		n.now = next
		flying := n.flying
		n.flying = nil
		for _, f := range flying {
			if f.at <= n.now {
				n.peers[f.to].step(tails.Received{From: f.from, Items: f.items, Waited: n.peers[f.to].slow})
			} else {
				n.flying = append(n.flying, f)
			}
		}
		for _, id := range n.names {
			if p := n.peers[id]; p.wake == n.now {
				p.wake = -1
				p.step(event.Tick{})
			}
		}
	}
}

// knows says whether p's machine says of q exactly what changed since q's summary.
func (p *peer) knows(q *peer, before map[summary.Fingerprint]bool) error {
	for f := range q.keys {
		if !before[f] && !slices.Contains(p.machine.Added(f), q.id) {
			return fmt.Errorf("%s does not know that %s added %x", p.id, q.id, uint64(f))
		}
	}
	for f := range before {
		if removed := p.machine.Removed(q.id, f); removed == q.keys[f] {
			return fmt.Errorf("%s says that %s removed %x: %v", p.id, q.id, uint64(f), removed)
		}
	}
	return nil
}

// signedTail is a tail that adds fingerprints to an epoch, signed by its origin.
func signedTail(t testing.TB, h summary.Header, number, from uint32, added []summary.Fingerprint) []byte {
	t.Helper()
	tail, err := tails.NewTail(number, from, added, nil).Sign(h, func(m []byte) ([]byte, error) { return signature(h.Origin, m), nil })
	if err != nil {
		t.Fatal(err)
	}
	return tail.AppendSigned(nil)
}

func fps(first, n int) (out []summary.Fingerprint) {
	for i := range n {
		out = append(out, summary.Fingerprint(uint64(first+i)*0x9e3779b97f4a7c15>>16))
	}
	return out
}

// TestTailsTravel sends changes along a line of five peers, some messages being lost. Keys come and go, and come
// again: all know in the end what there is, and what is no more.
func TestTailsTravel(t *testing.T) {
	for seed := range uint64(4) {
		n := newNet(t, "a b c d e")
		rng := rand.New(rand.NewPCG(seed, 1))
		n.all(func(p, q *peer) { p.learn(q) })
		for _, pair := range []string{"ab", "bc", "cd", "de"} {
			n.link(wire.PeerID(pair[:1]), wire.PeerID(pair[1:]))
		}
		a := n.peers["a"]
		a.change(fps(0, 50), nil)
		n.run(time.Second)
		before := maps.Clone(a.keys)
		a.publish(2)
		n.all(func(p, q *peer) { p.learn(q) })
		n.lose = func(wire.PeerID, wire.PeerID) bool { return rng.IntN(4) == 0 }
		ever := maps.Clone(before)
		for range 100 {
			var added, removed []summary.Fingerprint
			for _, f := range fps(rng.IntN(100), 4) {
				if ever[f] = true; a.keys[f] {
					removed = append(removed, f)
				} else {
					added = append(added, f)
				}
			}
			a.change(added, removed)
			n.run(n.now + time.Duration(rng.IntN(200))*time.Millisecond)
		}
		n.lose = nil
		a.change(fps(2000, 1), nil)
		n.run(n.now + 6*time.Second)
		for _, id := range n.names[1:] {
			if err := n.peers[id].knows(a, before); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			for f := range ever {
				if !a.keys[f] && slices.Contains(n.peers[id].machine.Added(f), "a") {
					t.Errorf("seed %d: %s says that a has %x", seed, id, uint64(f))
				}
			}
			if got, want := n.peers[id].advanced["a"], a.advanced["a"]; got != want || got.Added == 0 || got.Removed == 0 {
				t.Errorf("seed %d: %s says that it knows %v, a that there is %v", seed, id, got, want)
			}
		}
		if len(n.reports) > 0 {
			t.Errorf("seed %d: refused: %v", seed, n.reports)
		}
	}
}

// TestCostOfTails has ten peers, all linked, add keys: what a change costs each receiver, and how soon it is known.
func TestCostOfTails(t *testing.T) {
	n := acquainted(t, "a b c d e f g h i j", "")
	n.all(func(p, q *peer) {
		if p.id < q.id {
			n.link(p.id, q.id)
		}
	})
	n.run(5 * time.Second)
	for _, p := range n.peers {
		p.sent = 0
	}
	const seconds = 20
	const changes = 3
	copies := 0
	n.watch = func(_, _ wire.PeerID, it wire.TailItem) { copies += len(it.Tails) }
	for i := range seconds * 4 {
		for k, id := range n.names {
			n.peers[id].change(fps(100_000*k+changes*i, changes), nil)
		}
		n.run(n.now + 250*time.Millisecond)
		for k, id := range n.names {
			if len(n.peers["a"].machine.Added(fps(100_000*k+changes*i, 1)[0])) == 0 && id != "a" {
				t.Fatalf("a does not know after 250 ms what %s added", id)
			}
		}
	}
	total := 0
	for _, p := range n.peers {
		total += p.sent
	}
	const learned = seconds * 4 * 10 * 9 // tails, and who learned of each
	each, often := float64(total)/learned, float64(copies)/learned
	if t.Logf("%.0f bytes a tail of %d changes and receiver, sent %.3f times", each, changes, often); each > 190 || often > 1.02 {
		t.Error("want 190 bytes, once")
	}
}

// TestLinkWithoutTails: a link that has not said that it takes tails is sent none.
func TestLinkWithoutTails(t *testing.T) {
	n := acquainted(t, "a b", "")
	a := n.peers["a"]
	a.step(event.HelloReceived{Peer: "b"})
	a.change(fps(0, 1), nil)
	if n.run(time.Minute); a.writes > 0 {
		t.Errorf("%d messages", a.writes)
	}
}

// TestSlowLinkCatchesUp gives a link no room for a while: it then needs few of the tails that it missed.
func TestSlowLinkCatchesUp(t *testing.T) {
	n := acquainted(t, "a b", "a-b")
	n.run(time.Second)
	a, b := n.peers["a"], n.peers["b"]
	a.room = 0
	for i := range 100 {
		a.change(fps(i, 1), nil)
		n.run(n.now + 100*time.Millisecond)
	}
	a.sent, a.room = 0, 1<<20
	n.run(n.now + 2*time.Second)
	if err := b.knows(a, nil); err != nil {
		t.Error(err)
	}
	if a.sent > 1500 {
		t.Errorf("%d bytes for 100 changes", a.sent)
	}
}

// TestLargeItemBlocksNobody: where there is no room for one origin's tails, those of others still go.
func TestLargeItemBlocksNobody(t *testing.T) {
	n := acquainted(t, "a b c d", "")
	a := n.peers["a"]
	for _, id := range []wire.PeerID{"b", "c"} {
		n.link("a", id)
	}
	n.link("a", "d")
	n.run(time.Second)
	small, large := n.peers["b"], n.peers["c"]
	if wire.GroupOf(large.header).OriginTag() > wire.GroupOf(small.header).OriginTag() {
		small, large = large, small
	}
	a.room = 300
	large.change(fps(0, 100), nil)
	small.change(fps(1000, 1), nil)
	n.run(n.now + 5*time.Second)
	if _, added, _ := n.peers["d"].machine.State(small.id); added != 1 {
		t.Errorf("d knows of %d keys, want 1", added)
	}
}

// TestEarlyTails sends tails before the epoch that they belong to.
func TestEarlyTails(t *testing.T) {
	n := newNet(t, "a b")
	n.link("a", "b")
	a, b := n.peers["a"], n.peers["b"]
	a.change(fps(0, 3), nil)
	n.run(time.Second)
	b.learn(a)
	if err := b.knows(a, nil); err != nil {
		t.Error(err)
	}
	a.publish(2)
	a.change(fps(10, 3), nil)
	n.run(n.now + 10*time.Second)
	b.learn(a)
	n.run(n.now + 2*time.Second)
	if num, _, _ := b.machine.State("a"); num != 1 {
		t.Errorf("b is at state %d of a's second epoch", num)
	}
}

// TestEarlyTailsHaveRoom: a link that sends items of epochs that nobody knows, as many as it can, keeps no room from the
// early tails of another link.
func TestEarlyTailsHaveRoom(t *testing.T) {
	n := newNet(t, "a b c")
	n.link("a", "b")
	n.link("c", "b")
	a, b := n.peers["a"], n.peers["b"]
	tail := signedTail(t, a.header, 1, 0, fps(0, 3))
	flood := func() {
		for i := range 2 * wire.MaxTailItems {
			it := wire.TailItem{Group: wire.NewGroup(uint64(i)<<32|1, a.header.Epoch), Number: 1}
			if i%2 == 0 {
				it.Tails = [][]byte{{1}}
			}
			b.step(tails.Received{From: "c", Items: []wire.TailItem{it}})
		}
	}
	flood()
	b.step(tails.Received{From: "a", Items: []wire.TailItem{{Group: wire.GroupOf(a.header), Number: 1, Tails: [][]byte{tail}}}})
	flood()
	b.learn(a)
	if num, _, _ := b.machine.State("a"); num != 1 {
		t.Errorf("b is at state %d of a", num)
	}
	if err := b.machine.Check(); err != nil {
		t.Error(err)
	}
}

// TestHostileTails sends tails that are forged, replayed, of another epoch, or of nobody: none changes what is known.
func TestHostileTails(t *testing.T) {
	n := acquainted(t, "a b evil", "a-b evil-b")
	a, b, evil := n.peers["a"], n.peers["b"], n.peers["evil"]
	a.change(fps(0, 2), nil)
	n.run(time.Second)
	sign := func(origin string, h summary.Header, number, from uint32, added []summary.Fingerprint) []byte {
		tail, err := tails.NewTail(number, from, added, nil).Sign(h, func(m []byte) ([]byte, error) { return signature(origin, m), nil })
		if err != nil {
			t.Fatal(err)
		}
		return tail.AppendSigned(nil)
	}
	f := fps(77, 1)
	old := a.header
	for name, item := range map[string]wire.TailItem{
		"by another":       {Group: wire.GroupOf(a.header), Number: 2, Tails: [][]byte{sign("evil", a.header, 2, 1, f)}},
		"garbage":          {Group: wire.GroupOf(a.header), Number: 2, Tails: [][]byte{{1, 2, 3}}},
		"too long":         {Group: wire.GroupOf(a.header), Number: 2, Tails: [][]byte{make([]byte, wire.MaxTail+1)}},
		"another's header": {Group: wire.GroupOf(a.header), Number: 2, Tails: [][]byte{sign("a", evil.header, 2, 1, f)}},
		"nobody's":         {Group: wire.GroupID{9}, Number: 2, Tails: [][]byte{sign("a", a.header, 2, 1, f)}},
	} {
		before := b.machine.Refused()
		b.step(tails.Received{From: "evil", Items: []wire.TailItem{item}})
		if got := b.machine.Added(f[0]); len(got) > 0 {
			t.Errorf("%s: %v has it now", name, got)
		}
		if name != "nobody's" && b.machine.Refused() != before+1 {
			t.Errorf("%s: not counted", name)
		}
		n.run(n.now + 11*time.Second) // it is no longer mute
	}
	first := sign("a", old, 1, 0, fps(0, 2))
	a.change(nil, fps(0, 1))
	n.run(n.now + time.Second)
	b.step(tails.Received{From: "evil", Items: []wire.TailItem{{Group: wire.GroupOf(old), Number: 9, Tails: [][]byte{first}}}})
	if !b.machine.Removed("a", fps(0, 1)[0]) {
		t.Error("a replayed tail brought a removed key back")
	}
	b.step(tails.Received{From: "stranger", Items: []wire.TailItem{{Group: wire.GroupOf(old), Number: 3, Tails: [][]byte{sign("a", old, 3, 2, f)}}}})
	if len(b.machine.Added(f[0])) > 0 {
		t.Error("taken from a peer that is not linked")
	}
}

// TestFloodOfTails lets an origin make tails without end: memory and rate are bounded.
func TestFloodOfTails(t *testing.T) {
	n := acquainted(t, "a b", "a-b")
	a, b := n.peers["a"], n.peers["b"]
	for i := range 500 {
		tail := signedTail(t, a.header, uint32(i+1), uint32(i), fps(100*i, 100))
		b.step(tails.Received{From: "a", Items: []wire.TailItem{{Group: wire.GroupOf(a.header), Number: uint32(i + 1), Tails: [][]byte{tail}}}})
	}
	if _, added, _ := b.machine.State("a"); added > 2048 {
		t.Errorf("%d changes are kept of one origin", added)
	}
	if n.reports[tails.FaultLong] == 0 {
		t.Error("nothing was refused")
	}
}

// TestFresh says how old the knowledge of a linked peer is, that there is none of a peer that is not linked, and that a
// linked peer holds what is not known here: it hides keys, or has said to be in a later state or epoch.
func TestFresh(t *testing.T) {
	n := acquainted(t, "a b c", "a-b")
	n.run(3 * time.Second)
	a, b := n.peers["a"], n.peers["b"]
	a.step(tails.Outdated{Peer: "b"})
	for range 20 {
		n.run(n.now + 100*time.Millisecond)
		if age, ok := a.machine.Fresh(n.now, "b"); !ok || age > 1200*time.Millisecond {
			t.Errorf("b, asked where it is: %v, %v", age, ok)
		}
	}
	if _, ok := a.machine.Fresh(n.now, "c"); ok {
		t.Error("c, which is not linked, is known")
	}
	n.lose = func(wire.PeerID, wire.PeerID) bool { return true }
	n.run(15 * time.Second)
	if age, ok := a.machine.Fresh(n.now, "b"); ok && age < 9*time.Second {
		t.Errorf("b, silent for ten seconds: %v", age)
	}
	a.step(tails.Received{From: "b", Items: []wire.TailItem{{Group: wire.GroupOf(n.peers["c"].header)}}})
	if age, ok := a.machine.Fresh(n.now, "b"); ok && age < 9*time.Second {
		t.Errorf("b, who spoke of c alone: %v", age)
	}
	later := b.header
	later.Epoch.Sequence++
	for _, it := range []wire.TailItem{{Group: wire.GroupOf(b.header), Number: 3}, {Group: wire.GroupOf(later)}, {Group: wire.GroupOf(b.header), Hides: true}} {
		a.step(tails.Received{From: "b", Items: []wire.TailItem{it}})
		if age, ok := a.machine.Fresh(n.now, "b"); !ok || age != tails.Behind {
			t.Errorf("b says %+v, and its keys are known: %v, %v", it, age, ok)
		}
		a.step(tails.Received{From: "b", Items: []wire.TailItem{{Group: wire.GroupOf(b.header)}}})
		if age, ok := a.machine.Fresh(n.now, "b"); !ok || age > 0 {
			t.Errorf("b says that it is as known: %v, %v", age, ok)
		}
	}
}

// TestQuiet: in a net in which nothing happens, nothing is said but where each is, ever more rarely. That holds after a
// change, too, and where the link that brought an origin's tails is gone. Who asks hears at once, and a few times more.
func TestQuiet(t *testing.T) {
	n := newLine(t)
	n.peers["a"].change(fps(0, 1), nil)
	n.run(10 * time.Second)
	n.unlink("a", "b")
	n.run(time.Hour)
	b, c := n.peers["b"], n.peers["c"]
	count := func(until time.Duration) int {
		before := b.writes + c.writes
		n.run(until)
		return b.writes + c.writes - before
	}
	if sent := count(2 * time.Hour); sent > 6 {
		t.Errorf("%d messages in a quiet hour, from two that are linked", sent)
	}
	b.step(tails.Outdated{Peer: "c"})
	if sent := count(n.now + time.Hour); sent < 10 || sent > 20 {
		t.Errorf("%d messages in the hour after b asked", sent)
	}
	if err := c.knows(n.peers["a"], nil); err != nil {
		t.Error(err)
	}
}

// TestGoodbye lets a peer leave: its links know at once that it holds nothing, and that it is back when it is.
func TestGoodbye(t *testing.T) {
	n := newLine(t)
	a, b, f := n.peers["a"], n.peers["b"], fps(0, 1)[0]
	a.step(tails.Leaving{})
	n.run(n.now + 50*time.Millisecond)
	if !b.machine.Removed("a", f) || !b.machine.Left("a") || n.peers["c"].machine.Removed("a", f) || n.peers["c"].machine.Left("a") {
		t.Error("b does not know that a left, or c believes it")
	}
	b.step(event.LinkClosed{Peer: "a"})
	b.step(event.HelloReceived{Peer: "a", Hello: wire.Hello{Tails: true}})
	if b.machine.Removed("a", f) || b.machine.Left("a") {
		t.Error("a is back, and b says that it left")
	}
}

// TestUnreachable lets a peer say that it cannot reach another. Its links hear so once, and those linked with the other
// don't believe it. Who finds the same tells only links that have not said so. Once they are linked, it takes that back.
func TestUnreachable(t *testing.T) {
	n := acquainted(t, "a b c d dead", "a-b b-c c-a c-d dead-d")
	n.run(time.Second)
	n.trace.Reset()
	n.peers["a"].step(event.Unreachable{Peer: "dead"})
	n.run(n.now + 3*time.Second)
	if got := strings.Count(n.trace.String(), "  event.Doubted {dead false}"); got != 2 {
		t.Errorf("%d peers doubt it, want b and c", got)
	}
	var told []string
	n.watch = func(from, to wire.PeerID, it wire.TailItem) {
		if it.Left {
			told = append(told, fmt.Sprint(from, to))
		}
	}
	n.peers["a"].step(event.Unreachable{Peer: "dead"})
	n.peers["b"].step(event.Unreachable{Peer: "dead"})
	n.run(n.now + 3*time.Second)
	if !slices.Equal(told, []string{"bc"}) {
		t.Errorf("told: %v, want b to tell c", told)
	}
	n.link("a", "dead")
	n.run(n.now + 3*time.Second)
	if got := strings.Count(n.trace.String(), "  event.Doubted {dead true}"); got != 2 {
		t.Errorf("%d peers hear that it is back, want b and c", got)
	}
}

// TestFlapping: a peer that comes and goes has its links told once a minute that it is gone, and once that it is back.
func TestFlapping(t *testing.T) {
	n := newLine(t)
	words, b := 0, n.peers["b"]
	n.watch = func(from, to wire.PeerID, it wire.TailItem) {
		if from == "b" && to == "c" && it.Left {
			words++
		}
	}
	n.trace.Reset()
	cycle := func() {
		n.peers["a"].step(tails.Leaving{})
		n.run(n.now + 50*time.Millisecond)
		n.unlink("a", "b")
		if !b.machine.Left("a") {
			t.Error("b does not know that a left")
		}
		b.step(event.Unreachable{Peer: "a"})
		n.run(n.now + time.Second)
		n.link("a", "b")
		if b.machine.Left("a") {
			t.Error("a is back, and b says that it left")
		}
		n.run(n.now + 3*time.Second)
	}
	for range 5 {
		cycle()
	}
	if words != 1 {
		t.Errorf("c heard %d times in half a minute that a is gone", words)
	}
	for _, back := range []bool{false, true} {
		if got := strings.Count(n.trace.String(), fmt.Sprintf("  event.Doubted {a %v}", back)); got != 1 {
			t.Errorf("doubted, and that taken back is %v: %d times, want once, by c", back, got)
		}
	}
	n.run(n.now + time.Minute)
	if cycle(); words != 2 {
		t.Errorf("c heard %d times that a is gone, want a second time after a minute", words)
	}
}

// TestLyingDoubts: the word of a link that it cannot reach others goes no further.
func TestLyingDoubts(t *testing.T) {
	n := acquainted(t, "a b liar v0 v1 v2 v3 v4 v5 v6 v7 v8 v9", "liar-a a-b")
	n.run(time.Second)
	n.trace.Reset()
	var lies []wire.TailItem
	for i := range 10 {
		lies = append(lies, wire.TailItem{Group: wire.GroupOf(n.peers[wire.PeerID(fmt.Sprint("v", i))].header), Left: true})
	}
	n.peers["a"].step(tails.Received{From: "liar", Items: lies})
	n.run(n.now + 3*time.Second)
	if got := strings.Count(n.trace.String(), "  event.Doubted"); got != 10 {
		t.Errorf("%d doubts, want those of a", got)
	}
	n.peers["a"].step(event.Unreachable{Peer: "v0"})
	n.run(n.now + time.Second)
	if got := strings.Count(n.trace.String(), "  event.Doubted {v0 false}"); got != 2 {
		t.Errorf("%d doubts of v0, want that of the lie and that of b", got)
	}
}

// TestForgottenOrigins lets the overlay forget an origin: its tails go, too.
func TestForgottenOrigins(t *testing.T) {
	n := acquainted(t, "a b", "a-b")
	n.run(time.Second)
	n.peers["a"].change(fps(0, 5), nil)
	n.run(n.now + time.Second)
	b := n.peers["b"]
	if _, added, _ := b.machine.State("a"); added != 5 {
		t.Fatalf("b knows of %d keys", added)
	}
	delete(b.epochs, "a")
	n.run(n.now + 2*time.Minute)
	if num, added, _ := b.machine.State("a"); num != 0 || added != 0 || len(b.machine.Added(fps(0, 1)[0])) > 0 {
		t.Errorf("b still has state %d, with %d keys", num, added)
	}
}

// TestLostWord: a peer hears of a tail though the only word of it was lost, as the driver says so.
func TestLostWord(t *testing.T) {
	for _, said := range []bool{false, true} {
		n := acquainted(t, "a b c", "a-b b-c")
		n.run(200 * time.Millisecond)
		lost := false
		n.lose = func(from, to wire.PeerID) bool {
			lost = lost || from == "b" && to == "c"
			return from == "b" && to == "c"
		}
		n.peers["a"].change(fps(0, 1), nil)
		for i := 0; !lost && i < 50; i++ {
			n.run(n.now + 100*time.Millisecond)
		}
		n.lose = nil
		if said {
			n.peers["b"].step(event.Lost{Peer: "c"})
		}
		n.run(n.now + 1500*time.Millisecond)
		if got, _, _ := n.peers["c"].machine.State("a"); (got == 1) != said {
			t.Errorf("the driver says that a message was lost: %v; c is at state %d of 1", said, got)
		}
	}
}

// TestLostIsOfLate: after a loss a link hears again what went to it of late, not all that ever did.
func TestLostIsOfLate(t *testing.T) {
	const origins = 40
	names := ""
	for i := range origins {
		names += fmt.Sprintf("o%02d ", i)
	}
	n := acquainted(t, names+"hub leaf", "")
	for _, id := range n.names[:origins] {
		n.link(id, "hub")
	}
	n.link("hub", "leaf")
	for i, id := range n.names[:origins] {
		n.peers[id].change(fps(10*i, 1), nil)
	}
	n.run(time.Minute) // all has been announced
	n.peers["o00"].change(fps(1000, 1), nil)
	n.run(n.now + time.Second)
	told := map[string]bool{}
	n.watch = func(from, to wire.PeerID, it wire.TailItem) {
		if from == "hub" && to == "leaf" {
			told[fmt.Sprint(it.Group)] = true
		}
	}
	n.peers["hub"].step(event.Lost{Peer: "leaf"})
	n.run(n.now + 5*time.Second)
	if len(told) != 2 {
		t.Errorf("told again of %d origins, want itself and the one with news", len(told))
	}
	for _, id := range n.names[:origins] {
		if got, _, _ := n.peers["leaf"].machine.State(id); got == 0 {
			t.Errorf("the leaf does not know of %s: this shows nothing", id)
		}
	}
}

// TestLossesGoOn: while all that goes to a link is lost, retries come less and less often, though it is heard all the
// time. Once nothing is lost for a while, the next loss is made up for soon.
func TestLossesGoOn(t *testing.T) {
	n := acquainted(t, "a b c", "a-b b-c")
	n.peers["a"].change(fps(0, 1), nil)
	n.run(5 * time.Second)
	if got, _, _ := n.peers["c"].machine.State("a"); got != 1 {
		t.Fatalf("c is at state %d", got)
	}
	words, dropped := 0, false
	n.lose = func(from, to wire.PeerID) bool {
		dropped = dropped || from == "b" && to == "c"
		return from == "b" && to == "c"
	}
	n.watch = func(from, to wire.PeerID, it wire.TailItem) {
		if from == "b" && to == "c" && it.Group != wire.GroupOf(n.peers["b"].header) && it.Group != wire.Abbreviate(wire.GroupOf(n.peers["b"].header)) {
			words++
		}
	}
	n.peers["a"].change(fps(1, 1), nil)
	for end := n.now + time.Minute; n.now < end; {
		n.run(n.now + 100*time.Millisecond)
		if dropped {
			n.peers["b"].step(event.Lost{Peer: "c"})
			dropped = false
		}
	}
	if words < 4 || words > 12 {
		t.Errorf("the tail was told %d times in a minute", words)
	}
	n.lose = nil
	n.run(n.now + time.Minute)
	if got, _, _ := n.peers["c"].machine.State("a"); got != 2 {
		t.Errorf("c is at state %d a minute after the last loss", got)
	}
	words = 0
	n.peers["b"].step(event.Lost{Peer: "c"})
	n.peers["a"].change(fps(2, 1), nil)
	n.run(n.now + 1500*time.Millisecond)
	if got, _, _ := n.peers["c"].machine.State("a"); got != 3 || words == 0 {
		t.Errorf("c is at state %d", got)
	}
}

// TestTimeGoesBack: time that goes back is the driver's mistake.
func TestTimeGoesBack(t *testing.T) {
	m := newNet(t, "a").peers["a"].machine
	m.Step(time.Second, event.Tick{})
	m.Step(time.Second, event.Tick{})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	m.Step(time.Second-1, event.Tick{})
}
