package inside_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// prefixes returns summaries of random keys in several shapes, cut, compact and whole, with the keys of each.
func prefixes(t *testing.T) (all []*summary.Prefix, keys [][]summary.Fingerprint) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []summary.Shape{
		{}, {Keys: 3000, Levels: []uint8{20}}, {Keys: 3000, SampleBytes: 512, SampleLevel: 16, Levels: []uint8{19, 13, 12}},
	} {
		for _, n := range []int{20, 3000} {
			if s.Keys > 0 && n < s.Keys {
				continue
			}
			fps := make([]summary.Fingerprint, n)
			for i := range fps {
				fps[i] = summary.Fingerprint(rng.Uint64() >> 16)
			}
			p, err := summary.Build(fps, summary.Header{Origin: "peer", Shape: s})
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range []*summary.Prefix{p, p.Truncate(1), p.Truncate((p.Parts() + 1) / 2), p.Truncate(max(1, p.Parts()-1))} {
				all, keys = append(all, q, q.Compact()), append(keys, fps, fps)
			}
		}
	}
	return all, keys
}

// TestHolders compares with asking each prefix.
func TestHolders(t *testing.T) {
	all, keys := prefixes(t)
	for i := range all { // more than are asked at a time
		all = append(all, all[(7*i+3)%len(all)])
	}
	rng := rand.New(rand.NewPCG(3, 4))
	found := 0
	for i := range 2000 {
		f := summary.Fingerprint(rng.Uint64() >> 16)
		if of := keys[i%len(keys)]; i%2 == 0 {
			f = of[rng.IntN(len(of))]
		}
		want := []int{-1}
		for i, p := range all {
			if p.Contains(f) {
				want = append(want, i)
			}
		}
		found += len(want) - 1
		if got := inside.Holders([]int{-1}, all, f); !slices.Equal(got, want) {
			t.Fatalf("holders %v, not %v", got, want)
		}
	}
	if found < 2000 {
		t.Errorf("only %d found", found)
	}
}

// TestRegions compares what is known with the positions of the keys.
func TestRegions(t *testing.T) {
	all, keys := prefixes(t)
	for i, p := range all {
		for block := range p.Header().Shape.Levels {
			end := uint64(0)
			for _, r := range inside.Known(p, block) {
				if r.Begin < end || r.End <= r.Begin {
					t.Fatalf("regions %v", inside.Known(p, block))
				}
				end = r.End
				checkRegion(t, p, keys[i], block, r)
			}
			if end == 0 && block == 0 || end > 1<<32 {
				t.Errorf("%d parts: block %d is known to %d", p.Parts(), block, end)
			}
			if p.Parts() == p.Plan().Parts() && end != 1<<32 {
				t.Errorf("all parts: block %d is known to %d", block, end)
			}
		}
		if more := len(p.Header().Shape.Levels); inside.Known(p, more) != nil {
			t.Error("a block too many")
		}
	}
}

// checkRegion compares the nodes of a region, at its level and at higher ones, with the keys that lie there.
func checkRegion(t *testing.T, p *summary.Prefix, keys []summary.Fingerprint, block int, r inside.Region) {
	t.Helper()
	for _, level := range []int{r.Level, r.Level - 1, r.Level - 3} {
		var want []uint64
		for _, f := range keys {
			if x := inside.Position(f, block); x>>32 >= r.Begin && x>>32 < r.End {
				want = append(want, x>>(64-level))
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		var got []uint64
		var w inside.Walker
		w.Reset(p, block, level, r.Begin, r.End)
		for nodes := w.Next(); nodes != nil; nodes = w.Next() {
			got = append(got, nodes...)
		}
		if r.Begin<<level>>32<<32 != r.Begin<<level || level < 12 {
			continue // a node lies on both sides
		}
		if !slices.Equal(got, want) {
			t.Fatalf("block %d, %+v at level %d: %d nodes, not %d", block, r, level, len(got), len(want))
		}
		words := make([]uint64, 1<<level/64+1)
		both := 0
		for i, v := range want {
			if i%3 == 0 {
				words[v/64] |= 1 << (v % 64)
				both++
			}
		}
		w.Reset(p, block, level, r.Begin, r.End)
		if n, b := w.CountIn(words); n != len(want) || b != both {
			t.Fatalf("block %d, %+v at level %d: counted %d and %d, not %d and %d", block, r, level, n, b, len(want), both)
		}
	}
}

// TestSample holds the sample to what a prefix of one part knows.
func TestSample(t *testing.T) {
	all, _ := prefixes(t)
	with := 0
	for _, p := range all {
		r, ok := inside.Sample(p)
		if want := p.Header().Shape.SampleBytes > 0; ok != want {
			t.Fatalf("a sample: %v, not %v", ok, want)
		}
		if ok {
			with++
			if known := inside.Known(p.Truncate(1), 0); len(known) != 1 || known[0] != r {
				t.Errorf("sample %+v, known %+v", r, known)
			}
			if _, ok := inside.Sample(p.Truncate(0)); ok {
				t.Error("a sample without parts")
			}
		}
	}
	if with == 0 {
		t.Error("no sample")
	}
}
