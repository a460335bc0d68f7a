package tails_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestStaleTailsCostNoSignature: tails that are known already, or that start where nothing is known, are passed over by
// their numbers alone, however often a link sends them and whatever state it promises.
func TestStaleTailsCostNoSignature(t *testing.T) {
	n := newLine(t)
	a, b := n.peers["a"], n.peers["b"]
	a.step(tails.Changed{Added: []summary.Fingerprint{1}})
	n.run(n.now + time.Second)
	if b.advanced["a"].Number != 1 {
		t.Fatalf("b knows state %d", b.advanced["a"].Number)
	}
	signed := func(number, from uint32) []byte {
		return signedTail(t, a.header, number, from, []summary.Fingerprint{summary.Fingerprint(number)})
	}
	stale, apart := signed(1, 0), signed(20, 10)
	before := b.verified
	for range 100 {
		it := wire.TailItem{Group: wire.GroupOf(a.header), Number: 1 << 31}
		for range wire.MaxItemTails / 2 {
			it.Tails = append(it.Tails, stale)
		}
		it.Tails = append(it.Tails, apart)
		b.step(tails.Received{From: "a", Items: []wire.TailItem{it}})
	}
	if got := b.verified - before; got != 0 {
		t.Errorf("%d signatures verified", got)
	}
	b.step(tails.Received{From: "a", Items: []wire.TailItem{{Group: wire.GroupOf(a.header), Number: 2, Tails: [][]byte{stale, signed(2, 1)}}}})
	if b.advanced["a"].Number != 2 || b.verified != before+1 {
		t.Errorf("after the next tail: state %d, %d signatures", b.advanced["a"].Number, b.verified-before)
	}
}
