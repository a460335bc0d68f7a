package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

func someKeys(seed uint64, n int) []summary.Fingerprint {
	return plain.Keys(rand.New(rand.NewPCG(seed, 1)), n)
}

func build(fps []summary.Fingerprint, sequence uint32, levels ...uint8) *summary.Prefix {
	s, err := summary.Build(fps, summary.Header{Origin: "origin", Epoch: summary.Epoch{Generation: 1, Sequence: sequence}, Shape: summary.Shape{Levels: levels}})
	if err != nil {
		panic(err)
	}
	return s
}

// slowCounts counts what a comparison keeps, from the keys: the distinct nodes of both in the sample.
func slowCounts(own, other []summary.Fingerprint, p *summary.Prefix) (first, second, both int) {
	r, _ := inside.Sample(p)
	limit := uint64(math.Ldexp(float64(r.End), r.Level-32))
	nodes := func(fps []summary.Fingerprint) map[uint64]bool {
		out := map[uint64]bool{}
		for _, f := range fps {
			if v := inside.Position(f, 0) >> (64 - r.Level); v < limit {
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

// FuzzSamples changes both sides at random and compares the counts with those of the keys.
func FuzzSamples(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Add(uint64(322)) // the bits to spare reach beyond the known part of the own summary
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 8))
		shared := someKeys(seed, 4000)
		draw := func(n int, peer uint64) []summary.Fingerprint {
			k := rng.IntN(n + 1)
			return append(append([]summary.Fingerprint{}, shared[:k]...), someKeys(1000*seed+peer, n-k)...)
		}
		var c Samples
		own := draw(1+rng.IntN(3000), 99)
		c.SetOwn(build(own, 0))
		held := make([][]summary.Fingerprint, 6)
		prefixes := make([]*summary.Prefix, len(held))
		epoch := uint32(0)
		for range 30 {
			i := rng.IntN(len(held))
			switch rng.IntN(5) {
			case 0:
				held[i] = draw(1+rng.IntN(3000), uint64(rng.IntN(1000)))
				epoch++
				whole := build(held[i], epoch)
				prefixes[i] = whole.Truncate(rng.IntN(whole.Parts() + 1))
				c.Set(i, prefixes[i])
			case 1: // less of the same
				if p := prefixes[i]; p != nil {
					prefixes[i] = p.Truncate(rng.IntN(p.Parts() + 1))
					c.Set(i, prefixes[i])
				}
			case 2:
				prefixes[i] = nil
				c.Set(i, nil)
			case 3: // of our own, too
				whole := build(own, 0)
				c.SetOwn(whole.Truncate(rng.IntN(whole.Parts() + 1)))
			default: // a few own keys come and go
				own = append(own[min(len(own)-1, rng.IntN(10)):], someKeys(rng.Uint64(), rng.IntN(10))...)
				c.SetOwn(build(own, 0))
			}
			for i, p := range prefixes {
				if p == nil || !c.comparable(p) {
					continue
				}
				o := &c.others[i]
				kept, ok := c.Common(i, 0.95)
				if alone, okAlone := c.With(p, 0.95); alone != kept || ok != okAlone {
					t.Fatalf("seed %d, peer %d: alone %+v, kept %+v", seed, i, alone, kept)
				}
				first, second, both := slowCounts(own, held[i], p)
				level, bits := o.sample()
				if got := c.upTo(level, bits).count(bits); got != first || int(o.nodes) != second || int(o.both) != both {
					t.Fatalf("seed %d, peer %d: counts %d, %d, %d, want %d, %d, %d", seed, i, got, o.nodes, o.both, first, second, both)
				}
			}
		}
	})
}

func TestSamplesOverlap(t *testing.T) {
	const n = 8000
	shared := someKeys(1, n)
	var c Samples
	if _, ok := c.Common(0, 0.95); ok {
		t.Error("an overlap with nobody")
	}
	own := build(shared, 0)
	c.SetOwn(own)
	for i, k := range []int{0, 800, 4000, 8000} {
		p := build(append(append([]summary.Fingerprint{}, shared[:k]...), someKeys(uint64(2+i), n-k)...), 0)
		c.Set(i, p.Truncate(1))
		got, ok := c.Common(i, 0.95)
		want, err := summary.EstimateOverlap(own, p.Truncate(1), 0.95)
		if !ok || err != nil || math.Abs(got.Value-want.Intersection.Value) > 1 {
			t.Errorf("overlap %.0f (%v), EstimateOverlap says %.0f (%v)", got.Value, ok, want.Intersection.Value, err)
		}
	}
	unsampled := build(shared, 0, 15)
	c.Set(2, unsampled)
	if _, ok := c.Common(2, 0.95); ok {
		t.Error("a summary without a sample has been compared")
	}
	for _, p := range []*summary.Prefix{nil, unsampled, own.Truncate(0)} {
		if _, ok := c.With(p, 0.95); ok {
			t.Error("a summary without a sample has been compared alone")
		}
	}
	var nobody Samples
	if _, ok := nobody.With(own, 0.95); ok {
		t.Error("a sample has been compared with nothing")
	}
}

func ExampleSamples() {
	var own, others []summary.Fingerprint
	rng := rand.New(rand.NewPCG(2, 1))
	for i := range 10000 {
		f := summary.Fingerprint(rng.Uint64() >> 16)
		if i < 6000 {
			own = append(own, f)
		}
		if i >= 3000 {
			others = append(others, f)
		}
	}
	var c Samples
	c.SetOwn(build(own, 0))
	c.Set(0, build(others, 0).Truncate(1)) // the sample alone
	o, _ := c.Common(0, 0.95)
	fmt.Printf("%.0f, from %.0f to %.0f\n", o.Value, o.Low, o.High)
	// Output: 2889, from 2561 to 3217
}
