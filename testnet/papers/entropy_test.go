package papers

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// TestStreamEntropy compares with the sum over the nodes of the deepest levels, counted from the keys.
func TestStreamEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	keys := make([]summary.Fingerprint, 5000)
	for i := range keys {
		keys[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	for _, s := range []summary.Shape{{}, {Levels: []uint8{20, 14, 13}}} {
		p, err := summary.Build(keys, summary.Header{Origin: "origin", Lifetime: time.Hour, Shape: s})
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for block, level := range p.Header().Shape.Levels {
			nodes := map[uint64]bool{}
			for _, f := range keys {
				nodes[inside.Position(f, block)>>(64-level)] = true
			}
			m := math.Ldexp(1, int(level))
			q := float64(len(nodes)) / m
			want += m * (-q*math.Log2(q) - (1-q)*math.Log2(1-q))
		}
		if got := StreamEntropy(p); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: entropy %v, not %v", s, got, want)
		}
		last := 0.0
		for k := range p.Parts() {
			if got := StreamEntropy(p.Truncate(k + 1)); got <= last {
				t.Fatalf("part %d: entropy %v after %v", k, got, last)
			} else {
				last = got
			}
		}
	}
}
