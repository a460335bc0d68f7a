package tails_test

import (
	"errors"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// itemOf is an item of an epoch with one tail, that its origin has signed.
func itemOf(t *testing.T, h summary.Header, number uint32) wire.TailItem {
	t.Helper()
	tail := signedTail(t, h, number, number-1, []summary.Fingerprint{summary.Fingerprint(number)})
	return wire.TailItem{Group: wire.GroupOf(h), Number: number, Tails: [][]byte{tail}}
}

// TestTwinsTailsBlameNoRelay: an origin that signs two headers for one epoch has no link blamed that passes on the tails
// of the other one, or taken for mute. The origin itself is blamed for them.
func TestTwinsTailsBlameNoRelay(t *testing.T) {
	n := newLine(t)
	a, b, c := n.peers["a"], n.peers["b"], n.peers["c"]
	twin := a.header
	twin.Lifetime += time.Minute
	item := itemOf(t, twin, 1)
	c.step(tails.Received{From: "b", Items: []wire.TailItem{item}})
	if got := n.reports[tails.FaultTail]; got != 0 {
		t.Errorf("%d faults of a relay", got)
	}
	b.change(fps(7, 1), nil)
	n.run(n.now + 2*time.Second)
	if c.advanced["b"].Number != 1 {
		t.Error("nothing is taken from the relay")
	}
	b.step(tails.Received{From: "a", Items: []wire.TailItem{item}})
	if got := n.reports[tails.FaultTail]; got != 1 {
		t.Errorf("%d faults of the origin", got)
	}
}

// TestUnequalTailsBlameNoRelay: an origin gives one link many short tails, and another link a long one that leads as
// far. The second link passes its next tail on to the first, whose chain is full: that is no fault of the second.
func TestUnequalTailsBlameNoRelay(t *testing.T) {
	n := newLine(t)
	b, c := n.peers["b"], n.peers["c"]
	h := n.peers["a"].header
	give := func(p *peer, from wire.PeerID, number, first uint32) {
		tail := signedTail(t, h, number, first, []summary.Fingerprint{summary.Fingerprint(number)})
		p.step(tails.Received{From: from, Items: []wire.TailItem{{Group: wire.GroupOf(h), Number: number, Tails: [][]byte{tail}}}})
		n.run(n.now + 2*time.Second)
	}
	const most = wire.MaxItemTails
	for i := range uint32(most) {
		give(c, "b", i+1, i)
	}
	give(b, "a", most, 0)
	give(b, "a", most+1, most)
	if at, stays := b.advanced["a"].Number, c.advanced["a"].Number; at != most+1 || stays != most {
		t.Errorf("the relay is at tail %d, the other at %d", at, stays)
	}
	if got := n.reports[tails.FaultLong]; got != 0 {
		t.Errorf("%d faults of a relay", got)
	}
}

// TestUnverified: where the driver has not verified a signature yet, the machine asks for all of an item, goes on, and
// takes the item when it comes again. What is not good then is bad.
func TestUnverified(t *testing.T) {
	h := newLine(t).peers["a"].header
	var asked int
	good := false
	m := tails.New(tails.Config{
		Self: "self", Header: func(p wire.PeerID) (summary.Header, bool) { return h, p == "a" },
		Room: func(wire.PeerID) int { return 1 << 20 }, Pulse: func() time.Duration { return time.Second },
		Rate: func(wire.PeerID) (out, in float64) { return 1 << 20, 1 << 20 },
		Verify: func(origin string, message, sig []byte) error {
			if !good {
				asked++
				return tails.ErrUnverified
			}
			return verify(origin, message, sig)
		},
	})
	m.Step(0, event.HelloReceived{Peer: "a", Hello: wire.Hello{Tails: true}})
	m.Step(0, event.Learned{Origin: "a"})
	it := itemOf(t, h, 1)
	it.Number, it.Tails = 2, append(it.Tails, itemOf(t, h, 2).Tails...)
	var again []wire.TailItem
	step := func(opened bool) (faults int) {
		for _, e := range m.Step(time.Second, tails.Received{From: "a", Items: []wire.TailItem{it}, Opened: opened}) {
			switch e := e.(type) {
			case tails.Unverified:
				again = append(again, e.Item)
			case event.Report:
				faults++
			}
		}
		return faults
	}
	if step(false) > 0 || asked != 2 || len(again) != 1 || len(again[0].Tails) != 2 {
		t.Fatalf("%d signatures asked for, %d items are to come again", asked, len(again))
	}
	good = true
	if step(true) > 0 || len(again) > 1 || len(m.Added(2)) != 1 {
		t.Errorf("%d items are to come again, %v added", len(again), m.Added(2))
	}
	good, it = false, itemOf(t, h, 3)
	if step(true) != 1 || len(again) > 1 {
		t.Error("what was not found good is asked for again, or no fault")
	}
	if _, err := tails.OpenTail(it.Tails[0], h, func(string, []byte, []byte) error { return tails.ErrUnverified }); !errors.Is(err, tails.ErrUnverified) {
		t.Error(err)
	}
}
