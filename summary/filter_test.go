package summary

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzFilter: a filter answers as its prefix does; united or reduced it holds every key, and matches others as often as
// it says.
func FuzzFilter(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 6))
		n1, n2 := rng.IntN(3000), rng.IntN(3000)
		k1, k2 := pair(seed, n1, n2, rng.IntN(min(n1, n2)+1))
		p, q := mustBuild(t, k1, someShape(rng, n1)), mustBuild(t, k2, someShape(rng, n2))
		p, q = p.Truncate(rng.IntN(p.Parts()+1)), q.Truncate(rng.IntN(q.Parts()+1))
		a, b := p.Filter(), q.Filter()
		others := someKeys(seed+1, 400)
		for _, x := range others {
			if a.Contains(x) != p.Contains(x) || b.Contains(x) != q.Contains(x) {
				t.Fatalf("%#x: prefix and filter differ", x)
			}
		}
		if math.Abs(a.FalsePositiveRate()-p.FalsePositiveRate()) > 1e-9 {
			t.Fatalf("rate %v of a prefix, %v of its filter", p.FalsePositiveRate(), a.FalsePositiveRate())
		}
		both, err := Union(a, b)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, f *Filter, keys ...[]Fingerprint) {
			t.Helper()
			for _, ks := range keys {
				for _, k := range ks {
					if !f.Contains(k) {
						t.Fatalf("%s: %#x is not found", what, k)
					}
				}
			}
			hits := 0
			for _, x := range others {
				if f.Contains(x) {
					hits++
				}
			}
			rate, m := f.FalsePositiveRate(), float64(len(others))
			if math.Abs(float64(hits)-rate*m) > 6*math.Sqrt(rate*(1-rate)*m)+6 {
				t.Fatalf("%s: %d of %v match, rate %v", what, hits, m, rate)
			}
		}
		check("union", both, k1, k2)
		level := rng.IntN(24)
		check("folded", a.Fold(level), k1)
		check("folded union", both.Fold(level), k1, k2)
		if a.Fold(level).FalsePositiveRate() < a.FalsePositiveRate()-1e-9 {
			t.Fatal("folded to more")
		}
	})
}

// TestMistakes: a mistake of the caller panics, a cut to more than there is changes nothing.
func TestMistakes(t *testing.T) {
	p := mustBuild(t, someKeys(1, 100), Shape{})
	if p.Truncate(p.Parts()+1) != p {
		t.Error("a cut to more than there is changed something")
	}
	defer func() {
		if recover() == nil {
			t.Error("Prefix.Truncate to fewer than no parts: no panic")
		}
	}()
	p.Truncate(-1)
}

func TestUnionExact(t *testing.T) {
	k1, k2 := pair(1, 3000, 3000, 1000)
	s := DefaultShape(5000)
	a, b := mustBuild(t, k1, s).Filter(), mustBuild(t, k2, s).Filter()
	got, err := Union(a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := mustBuild(t, append(k1[:3000:3000], k2...), s)
	if got.FalsePositiveRate() != want.Filter().FalsePositiveRate() {
		t.Errorf("rate %v, of all keys %v", got.FalsePositiveRate(), want.FalsePositiveRate())
	}
	for _, x := range someKeys(2, 200_000) {
		if got.Contains(x) != want.Contains(x) {
			t.Fatalf("%#x: differs", x)
		}
	}
	b.seed.Number++
	if _, err := Union(a, b); !errors.Is(err, ErrSeed) {
		t.Error(err)
	}
}
