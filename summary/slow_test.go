package summary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// slowContains is the plain meaning of a prefix. In every block that says anything where f lies, some key lies in the
// same node, at the level known there.
func slowContains(p *Plan, parts int, keys []Fingerprint, f Fingerprint) bool {
	for block := range p.blocks {
		start := int(p.blocks[block].start)
		x := position(f, block)
		for _, r := range p.knowledge(block, parts) {
			if cell := int(x >> (64 - start)); cell < r.Begin || cell >= r.End {
				continue
			}
			found := false
			for _, k := range keys {
				found = found || position(k, block)>>(64-r.Level) == x>>(64-r.Level)
			}
			if !found {
				return false
			}
		}
	}
	return true
}

// someShape is a random valid shape for n keys.
func someShape(rng *rand.Rand, n int) Shape {
	s := Shape{Keys: max(1, n-rng.IntN(n/4+1)+rng.IntN(n/4+1))}
	log := ceilLog2(s.Keys)
	if rng.IntN(4) > 0 {
		s.SampleBytes = 1 + rng.IntN(1+rng.IntN(3000))
		s.SampleLevel = uint8(max(1, log+rng.IntN(maxSampleDepth+1)))
	}
	for range 1 + rng.IntN(3) {
		s.Levels = append(s.Levels, uint8(1+rng.IntN(log+12)))
	}
	if s.SampleBytes > 0 {
		s.Levels[0] = max(s.Levels[0], uint8(log))
	}
	return s
}

// FuzzFastSlow compares every answer with the plain meaning, for prefixes got by one run, part by part, and by cutting.
func FuzzFastSlow(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := rng.IntN(1 + rng.IntN(5000))
		keys := someKeys(seed, n)
		s := someShape(rng, n)
		st, err := Build(keys, testHeader(s))
		if err != nil {
			t.Fatalf("%d keys, shape %v: %v", n, s, err)
		}
		full := st
		parts := rng.IntN(full.Parts() + 1)
		once, _ := NewPrefix(full.Header())
		step := once
		r, _ := full.Run(0, parts)
		if once, err = once.Extend(r); err != nil {
			t.Fatal(err)
		}
		for step.Parts() < parts {
			r, _ := full.Run(rng.IntN(step.Parts()+1), step.Parts()+1)
			if step, err = step.Extend(r); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(2) == 0 {
				step = step.Compact()
			}
		}
		cut := full.Compact().Truncate(parts)
		checkTruncate(t, full, once, rng)
		checkCompact(t, once, rng.IntN(parts+1))
		queries := append(someKeys(seed+1, 50), keys[:min(n, 50)]...)
		for range 50 {
			if n > 0 { // near misses of block 0 cannot be made from outside the mix; of the low bits they can
				queries = append(queries, keys[rng.IntN(n)]^1)
			}
		}
		for _, q := range queries {
			want := slowContains(full.plan, parts, keys, q)
			for _, p := range []*Prefix{once, step, cut} {
				if got := p.Contains(q); got != want {
					t.Fatalf("%d keys, shape %v, %d parts: Contains(%#x) = %v", n, s, parts, q, got)
				}
			}
		}
		if a, b, c := fmt.Sprint(once.FalsePositiveRate()), fmt.Sprint(step.FalsePositiveRate()), fmt.Sprint(cut.FalsePositiveRate()); a != b || b != c {
			t.Fatalf("rates %s %s %s", a, b, c)
		}
	})
}

// checkCompact compares what is encoded again with what came.
func checkCompact(t *testing.T, p *Prefix, from int) {
	t.Helper()
	c := p.Compact()
	want := must(p.Run(from, p.Parts()))
	got := must(c.Run(from, p.Parts()))
	if got.First != want.First || got.Next != want.Next || !slices.EqualFunc(got.Parts, want.Parts, slices.Equal) {
		t.Fatalf("a run from %d of %d parts, encoded anew, is another", from, p.Parts())
	}
	checkFirst(t, p, c)
	if c.Parts() != p.Parts() || c.EncodedBytes() != p.EncodedBytes() || c.FalsePositiveRate() != p.FalsePositiveRate() || p.Parts() > 0 && c.SizeBytes() >= p.SizeBytes() {
		t.Fatalf("compact: %d parts of %d bytes, rate %v, in %d bytes; before %d, %d, %v, %d",
			c.Parts(), c.EncodedBytes(), c.FalsePositiveRate(), c.SizeBytes(), p.Parts(), p.EncodedBytes(), p.FalsePositiveRate(), p.SizeBytes())
	}
}

// checkFirst compares part 0 of a compact prefix with what came.
func checkFirst(t *testing.T, p, compact *Prefix) {
	t.Helper()
	if p.Parts() == 0 {
		return
	}
	want, _ := p.Run(0, 1)
	got, err := compact.Run(0, 1)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("part 0, encoded alone, is another (%v)", err)
	}
}

// checkTruncate compares what full is cut to, at once and in steps, compact or not, with a prefix that never had more.
func checkTruncate(t *testing.T, full, want *Prefix, rng *rand.Rand) {
	t.Helper()
	parts := want.Parts()
	between := full.Truncate(parts + rng.IntN(full.Parts()-parts+1))
	for i, got := range []*Prefix{full.Truncate(parts), between.Truncate(parts)} {
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%d parts cut to %d (%d) are not those that came", full.Parts(), parts, i)
		}
	}
	between = full.Compact().Truncate(between.Parts())
	for i, got := range []*Prefix{full.Compact().Truncate(parts), between.Truncate(parts), between.Compact().Truncate(parts)} {
		if parts < full.Parts() && !reflect.DeepEqual(got, want.Compact()) {
			t.Fatalf("%d compact parts cut to %d (%d) are not those that came", full.Parts(), parts, i)
		}
	}
}

// TestOccupied compares the fixed-point numbers with a plain simulation's and the formula's.
func TestOccupied(t *testing.T) {
	for _, n := range []int{0, 1, 10, 1000, 100_000, maxKeys} {
		for level := 1; level <= maxLevel; level++ {
			want := -math.Expm1(-float64(n)/math.Ldexp(1, level)) * math.Ldexp(1, level)
			if got := float64(occupied(n, level)); got > want+1 || got < want-1-want*1e-9 {
				t.Errorf("%d keys at level %d: %v, not %v", n, level, got, want)
			}
		}
	}
}

func TestRoot(t *testing.T) {
	for v := range 100_000 {
		if r := isqrt(v); r*r > v || (r+1)*(r+1) <= v {
			t.Fatalf("root of %d: %d", v, r)
		}
	}
}

// must returns v. It panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
