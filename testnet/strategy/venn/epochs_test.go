package venn

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// TestSamplesAreKept: the samples that a run keeps compare as those decoded from the prefixes themselves, while
// collections change, and for prefixes of older epochs.
func TestSamplesAreKept(t *testing.T) {
	const peers = 4
	rng := rand.New(rand.NewPCG(1, 2))
	collections := make([][]summary.Fingerprint, peers)
	for p := range collections {
		for range 500 {
			collections[p] = append(collections[p], summary.Fingerprint(rng.Uint64N(1000)<<38))
		}
	}
	r := &run{
		world: strategy.World{Collection: func(p strategy.ID) []summary.Fingerprint { return collections[p] }}, seed: summary.Seed{Network: "sim"},
		shape: func(n int) (summary.Shape, error) { return summary.DefaultShape(n), nil }, origins: make([]origin, peers),
	}
	var held []*summary.Prefix
	hits, compared := 0, 0
	for round := range 12 {
		p := strategy.ID(round % peers)
		r.origins[p].changed = round%3 != 0
		collections[p] = collections[p][rng.IntN(20):]
		published, err := r.publish(p, core.Lifetime)
		if err != nil {
			t.Fatal(err)
		}
		h := published.Stream.Header()
		held = append(held, r.prefix(h, 0), r.prefix(h, 1), r.prefix(h, published.Stream.Parts()))
		var c compare.Samples
		c.SetOwn(published.Stream)
		for _, i := range rng.Perm(2 * len(held)) { // each twice, in any order
			q := held[i%len(held)]
			if k := r.origins[idOf(wire.PeerID(q.Header().Origin))].sample.Load(); k != nil && k.Is(q) {
				hits++
			}
			got, ok := c.With(r.sample(q), 0.95)
			want, okWant := c.With(compare.SampleOf(q), 0.95)
			if okWant && want.Value > 0 {
				compared++
			}
			if got != want || ok != okWant {
				t.Fatalf("round %d, %d parts of %v: %+v (%v), want %+v (%v)", round, q.Parts(), q.Header().Epoch, got, ok, want, okWant)
			}
		}
	}
	if hits == 0 || compared == 0 {
		t.Errorf("%d samples used twice, %d overlaps", hits, compared)
	}
}
