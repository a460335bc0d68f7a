package tails_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestNoRoom: tails for which a peer has no room are nobody's fault, and are not sent again and again.
func TestNoRoom(t *testing.T) {
	n := newNet(t, "")
	n.most = 100
	for _, name := range []string{"a", "b", "c"} {
		n.add(name)
	}
	n.all(func(p, q *peer) { p.learn(q) })
	n.link("a", "b")
	n.link("b", "c")
	n.run(time.Second)
	n.peers["c"].change(fps(0, 80), nil)
	n.run(n.now + time.Second)
	pushed := 0
	n.watch = func(_, to wire.PeerID, it wire.TailItem) {
		if to == "b" {
			pushed += len(it.Tails)
		}
	}
	n.peers["a"].change(fps(1000, 50), nil)
	n.run(n.now + time.Minute)
	if _, added, _ := n.peers["b"].machine.State("a"); added > 0 {
		t.Errorf("b knows of %d keys of a; there should be no room", added)
	}
	if len(n.reports) > 0 {
		t.Errorf("blamed: %v", n.reports)
	}
	if pushed > 20 {
		t.Errorf("%d tails were sent to b in a minute", pushed)
	}
	n.peers["c"].publish(2) // its changes are in the epoch now
	n.all(func(p, q *peer) { p.learn(q) })
	n.run(n.now + time.Minute)
	if _, added, _ := n.peers["b"].machine.State("a"); added != 50 {
		t.Errorf("there is room, and b knows of %d keys of a", added)
	}
}

// TestPausedMachine: what waited while a machine was paused comes at once. Nobody is to blame.
func TestPausedMachine(t *testing.T) {
	n := acquainted(t, "a b", "a-b")
	n.run(time.Second)
	a, b := n.peers["a"], n.peers["b"]
	b.slow = 20 * time.Second
	for i := range 200 {
		a.change(fps(i, 1), nil)
		n.run(n.now + 100*time.Millisecond)
		b.slow -= 100 * time.Millisecond
	}
	b.slow = 0
	n.run(n.now + time.Minute)
	if num, added, _ := b.machine.State("a"); num != 200 || added != 200 {
		t.Errorf("b is at state %d with %d keys", num, added)
	}
	if len(n.reports) > 0 {
		t.Errorf("blamed: %v", n.reports)
	}
}

// TestGapAmongTails: what comes before a gap counts, and is passed on.
func TestGapAmongTails(t *testing.T) {
	n := newLine(t)
	a, b := n.peers["a"], n.peers["b"]
	var signed [][]byte
	for i := range uint32(3) {
		signed = append(signed, signedTail(t, a.header, i+1, i, fps(int(i), 1)))
	}
	b.step(tails.Received{From: "a", Items: []wire.TailItem{{Group: wire.GroupOf(a.header), Number: 3, Tails: [][]byte{signed[0], signed[2]}}}})
	n.run(n.now + 5*time.Second)
	if got := b.advanced["a"].Number; got != 1 {
		t.Errorf("b says that it knows state %d of a, not 1", got)
	}
	if got, _, _ := n.peers["c"].machine.State("a"); got != 1 {
		t.Errorf("c knows state %d of a, not 1", got)
	}
}
