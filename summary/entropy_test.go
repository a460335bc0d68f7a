package summary

import (
	"math"
	"testing"
)

// TestPrefixEntropy compares with the sum over the nodes of the deepest levels, counted from the keys.
func TestPrefixEntropy(t *testing.T) {
	keys := someKeys(3, 5000)
	for _, s := range []Shape{{}, {Levels: []uint8{20, 14, 13}}} {
		p := mustBuild(t, keys, s)
		want := 0.0
		for block, level := range p.Header().Shape.Levels {
			nodes := map[uint64]bool{}
			for _, f := range keys {
				nodes[position(f, block)>>(64-level)] = true
			}
			m := math.Ldexp(1, int(level))
			q := float64(len(nodes)) / m
			want += m * (-q*math.Log2(q) - (1-q)*math.Log2(1-q))
		}
		if got := p.Entropy(); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: entropy %v, not %v", s, got, want)
		}
		last := 0.0
		for k := range p.Parts() {
			if got := p.Truncate(k + 1).Entropy(); got <= last {
				t.Fatalf("part %d: entropy %v after %v", k, got, last)
			} else {
				last = got
			}
		}
	}
}
