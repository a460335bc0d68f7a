package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCommonOfTwo: for two filters it is equation 6.
func TestCommonOfTwo(t *testing.T) {
	a := Array{Bits: 2048, Blocks: 4}
	for _, c := range []Counts{{4000, 3000, 2000}, {5000, 5000, 4999}, {100, 8000, 99}, {10, 20, 0}, {10, 20, 10}} {
		two, err := a.intersection(c, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.EstimateCommon(0.9, c.Both, c.First, c.Second)
		if err != nil || math.Abs(got.Value-two.Value) > 1e-6*(1+two.Value) {
			t.Errorf("%+v: %v, Intersection %v, %v", c, got, two.Value, err)
		}
	}
}

// TestCommonOfMore draws filters of five sets that share 3000 elements: the mean, and how often the interval holds it.
func TestCommonOfMore(t *testing.T) {
	const m, common, sets, trials = 16_384, 3000, 5, 300
	r := rand.New(rand.NewPCG(1, 2))
	sum, held := 0.0, 0
	for range trials {
		filters := make([][m]bool, sets)
		for range common {
			at := r.IntN(m)
			for i := range filters {
				filters[i][at] = true
			}
		}
		each := make([]int, sets)
		all := 0
		for i := range filters {
			for range 4000 + 1000*i {
				filters[i][r.IntN(m)] = true
			}
		}
		for at := range m {
			in := 0
			for i := range filters {
				if filters[i][at] {
					each[i]++
					in++
				}
			}
			if in == sets {
				all++
			}
		}
		n, err := Array{Bits: m}.EstimateCommon(0.9, all, each...)
		if err != nil {
			t.Fatal(err)
		}
		sum += n.Value
		held += holds(n, common)
	}
	if share := float64(held) / trials; share < 0.84 || share > 0.96 { // claims 0.9; three standard errors are 0.05
		t.Errorf("the intervals hold the truth in %.2f of the trials", share)
	}
	if mean := sum / trials; math.Abs(mean-common) > 0.01*common {
		t.Errorf("mean %v, want %v", mean, common)
	}
}
