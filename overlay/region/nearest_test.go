package region

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestNearest compares with a sort of all, where some are named twice.
func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var all []located
		for range rng.IntN(40) {
			i := rng.IntN(25)
			place := space.Place(rand.New(rand.NewPCG(uint64(i), 2)).Uint64())
			all = append(all, located{wire.Named{Record: wire.Record{Peer: wire.PeerID(fmt.Sprint(i))}}, place})
		}
		p, n := space.Place(rng.Uint64()), 1+rng.IntN(20)
		got := nearest(p, slices.Values(all), n)
		slices.SortFunc(all, func(a, b located) int { return cmp.Compare(p.Distance(a.place), p.Distance(b.place)) })
		all = slices.CompactFunc(all, func(a, b located) bool { return a.place == b.place })
		same := func(a, b located) bool { return a.Record.Peer == b.Record.Peer && a.place == b.place }
		if want := all[:min(len(all), n)]; !slices.EqualFunc(got, want, same) {
			t.Fatalf("nearest %d to %x: %v, want %v", n, p, got, want)
		}
	}
}

// TestNearness: a peer that says which are nearest to it learns of nearer ones only, and of anybody until it knows
// enough.
func TestNearness(t *testing.T) {
	asker := space.Place(1 << 63)
	known := map[uint32]uint16{}
	for i := range space.Countable - 1 {
		known[uint32(asker>>32)+1+uint32(i)] = 0
	}
	if nearness(asker, known) != math.MaxUint64 {
		t.Error("a peer that knows few is not told of all")
	}
	known[7] = 0 // far away
	if got, want := nearness(asker, known), asker.Distance(7<<32); got != want {
		t.Errorf("nearness %x, want %x", got, want)
	}
	known[uint32(asker>>32)+space.Countable] = 0
	if got, want := nearness(asker, known), uint64(space.Countable<<32); got != want {
		t.Errorf("nearness %x, want %x", got, want)
	}
}
