package summary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// slowCounts counts what a comparison keeps, from the keys: the distinct nodes of both in the sample.
func slowCounts(own, other []Fingerprint, p *Prefix) (first, second, both int) {
	s, l := &p.plan.steps[0], p.plan.blocks[0]
	limit := uint64(l.sample) << (s.to - int(l.start))
	nodes := func(fps []Fingerprint) map[uint64]bool {
		out := map[uint64]bool{}
		for _, f := range fps {
			if v := position(f, 0) >> (64 - s.to); v < limit {
				out[v] = true
			}
		}
		return out
	}
	a, b := nodes(own), nodes(other)
	for v := range a {
		if b[v] {
			both++
		}
	}
	return len(a), len(b), both
}

// FuzzComparison changes both sides at random and compares the counts with those of the keys.
func FuzzComparison(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 8))
		shared := someKeys(seed, 4000)
		draw := func(n int, peer uint64) []Fingerprint {
			k := rng.IntN(n + 1)
			return append(append([]Fingerprint{}, shared[:k]...), someKeys(1000*seed+peer, n-k)...)
		}
		var c Comparison
		own := draw(1+rng.IntN(3000), 99)
		c.SetOwn(mustBuild(t, own, Shape{}).Prefix())
		held := make([][]Fingerprint, 6)
		prefixes := make([]*Prefix, len(held))
		epoch := uint32(0)
		for range 30 {
			i := rng.IntN(len(held))
			switch rng.IntN(4) {
			case 0:
				held[i] = draw(1+rng.IntN(3000), uint64(rng.IntN(1000)))
				h := testHeader(Shape{})
				epoch++
				h.Epoch.Sequence = epoch
				st, err := Build(held[i], h)
				if err != nil {
					t.Fatal(err)
				}
				prefixes[i] = st.Prefix().Truncate(1 + rng.IntN(st.Prefix().Parts()))
				c.Set(i, prefixes[i])
			case 1: // more or less of the same
				if p := prefixes[i]; p != nil {
					c.Set(i, p.Truncate(1+rng.IntN(p.Parts())))
				}
			case 2:
				prefixes[i] = nil
				c.Set(i, nil)
			default: // a few own keys come and go
				own = append(own[min(len(own)-1, rng.IntN(10)):], someKeys(rng.Uint64(), rng.IntN(10))...)
				c.SetOwn(mustBuild(t, own, Shape{}).Prefix())
			}
			for i, p := range prefixes {
				if p == nil || !c.comparable(p) {
					continue
				}
				o := &c.others[i]
				first, second, both := slowCounts(own, held[i], p)
				level, bits := o.sample()
				if got := c.array(level, bits).count(bits); got != first || int(o.nodes) != second || int(o.both) != both {
					t.Fatalf("seed %d, peer %d: counts %d, %d, %d, want %d, %d, %d", seed, i, got, o.nodes, o.both, first, second, both)
				}
			}
		}
	})
}

func TestComparisonOverlap(t *testing.T) {
	const n = 8000
	shared := someKeys(1, n)
	var c Comparison
	if _, ok := c.Overlap(0, 0.95); ok {
		t.Error("an overlap with nobody")
	}
	own := mustBuild(t, shared, Shape{}).Prefix()
	c.SetOwn(own)
	for i, k := range []int{0, 800, 4000, 8000} {
		p := mustBuild(t, append(append([]Fingerprint{}, shared[:k]...), someKeys(uint64(2+i), n-k)...), Shape{}).Prefix()
		c.Set(i, p.Truncate(1))
		got, ok := c.Overlap(i, 0.95)
		want, err := EstimateOverlap(own, p.Truncate(1), 0.95)
		if !ok || err != nil || math.Abs(got.Intersection.Value-want.Intersection.Value) > 1 {
			t.Errorf("overlap %.0f (%v), EstimateOverlap says %.0f (%v)", got.Intersection.Value, ok, want.Intersection.Value, err)
		}
	}
	c.Set(2, mustBuild(t, shared, Shape{Levels: []uint8{15}}).Prefix())
	if _, ok := c.Overlap(2, 0.95); ok {
		t.Error("a summary without a sample has been compared")
	}
}

func ExampleComparison() {
	var own, others []Fingerprint
	rng := rand.New(rand.NewPCG(2, 1))
	for i := range 10000 {
		f := Fingerprint(rng.Uint64() >> 16)
		if i < 6000 {
			own = append(own, f)
		}
		if i >= 3000 {
			others = append(others, f)
		}
	}
	prefix := func(fps []Fingerprint) *Prefix {
		s, err := Build(fps, Header{Origin: "somebody", Epoch: Epoch{Generation: 1}})
		if err != nil {
			panic(err)
		}
		return s.Prefix()
	}
	var c Comparison
	c.SetOwn(prefix(own))
	c.Set(0, prefix(others).Truncate(1)) // the sample alone
	o, _ := c.Overlap(0, 0.95)
	fmt.Printf("%.0f, from %.0f to %.0f\n", o.Intersection.Value, o.Intersection.Low, o.Intersection.High)
	// Output: 2926, from 2770 to 3082
}

// BenchmarkComparison: a sample counted, and an estimate.
func BenchmarkComparison(b *testing.B) {
	const n = 5000
	var c Comparison
	c.SetOwn(mustBuild(b, someKeys(1, n), Shape{}).Prefix())
	var samples []*Prefix
	for i := range 500 {
		samples = append(samples, mustBuild(b, someKeys(uint64(2+i), n), Shape{}).Prefix().Truncate(1))
	}
	b.Run("count", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			o := compared{}
			c.count(&o, samples[i%len(samples)])
		}
	})
	c.Set(0, samples[0])
	b.Run("estimate", func(b *testing.B) {
		for b.Loop() {
			c.Overlap(0, 0.95)
		}
	})
}
