package space

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrigins estimates the size of networks when only the neighbourhood is known whole.
func TestOrigins(t *testing.T) {
	for _, n := range []int{1, 10, 100, 3000, 30000} {
		sum, trials := 0.0, 40
		for seed := range uint64(trials) {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			self := Place(rng.Uint64())
			var known []Place
			for i := range n {
				p := Place(rng.Uint64())
				if near := self.Distance(p) < math.MaxUint64/uint64(n)*64; n <= 64 || near || i%10 == 0 {
					known = append(known, p)
				}
			}
			sum += Origins(self, known) / float64(n)
		}
		if mean := sum / float64(trials); mean < 0.8 || mean > 1.3 {
			t.Errorf("%d origins are taken for %.2f times as many on average", n, mean)
		}
	}
}

// slowOrigins is Origins by sorting all.
func slowOrigins(self Place, places []Place) float64 {
	all := distinct(slices.Clone(places))
	slices.SortFunc(all, func(a, b Place) int { return cmp.Compare(self.Distance(a), self.Distance(b)) })
	if len(places) <= Countable || len(all) < Countable {
		return float64(len(all))
	}
	depth := MaxDepth
	for !Around(self, depth).Contains(all[Countable-1]) {
		depth--
	}
	n := Countable
	for n < len(all) && Around(self, depth).Contains(all[n]) {
		n++
	}
	return math.Ldexp(float64(n), depth)
}

// TestOriginsFast compares with the slow twin, with places named more than once, equal to our own, and very near.
func TestOriginsFast(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		self := Place(rng.Uint64())
		places := make([]Place, rng.IntN(120))
		for i := range places {
			switch rng.IntN(6) {
			case 0:
				places[i] = places[rng.IntN(i+1)]
			case 1:
				places[i] = self ^ Place(rng.Uint64()>>rng.IntN(65))
			default:
				places[i] = Place(rng.Uint64())
			}
		}
		before := slices.Clone(places)
		if got, want := Origins(self, places), slowOrigins(self, places); got != want {
			t.Fatalf("seed %d: %v origins, want %v", seed, got, want)
		}
		if !slices.Equal(places, before) {
			t.Fatalf("seed %d: the places are changed", seed)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, of := range map[float64][]float64{0: {7, 2}, 5: {1e12, 5, 0}, 100: {100, 100, 1e300, 90, math.Inf(1)}} {
		if got, _ := Median(of); got != want {
			t.Errorf("median of %v is %v", of, got)
		}
	}
	if lower, upper := Median([]float64{9, 2, 1, 7}); lower != 2 || upper != 7 {
		t.Errorf("medians of four are %v and %v, want 2 and 7", lower, upper)
	}
}

func TestMostSaid(t *testing.T) {
	for _, c := range []struct {
		want  int
		words []int
	}{{0, nil}, {7, []int{7}}, {9, []int{9, 2}}, {5, []int{1 << 40, 5, 0}}, {30, []int{1 << 40, 10, 30, 1 << 40, 20, 25}}} {
		if got := MostSaid(c.words, Voices); got != c.want {
			t.Errorf("%v: %d, want %d", c.words, got, c.want)
		}
	}
}
