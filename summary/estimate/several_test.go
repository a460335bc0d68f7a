package estimate

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestCommonOfTwo: for two filters it is equation 6.
func TestCommonOfTwo(t *testing.T) {
	a := Array{Bits: 2048, Blocks: 4}
	for _, c := range []Counts{{4000, 3000, 2000}, {5000, 5000, 4999}, {100, 8000, 99}, {10, 20, 0}, {10, 20, 10}} {
		two, err := a.Intersection(c, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Common(c.Both, c.First, c.Second)
		if err != nil || math.Abs(got-two.Value) > 1e-6*(1+two.Value) {
			t.Errorf("%+v: %v, Intersection %v, %v", c, got, two.Value, err)
		}
	}
}

// TestCommonOfMore draws filters of five sets that share 3000 elements.
func TestCommonOfMore(t *testing.T) {
	const m, common, sets, trials = 16_384, 3000, 5, 40
	r := rand.New(rand.NewPCG(1, 2))
	sum := 0.0
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
		n, err := Array{Bits: m}.Common(all, each...)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if mean := sum / trials; math.Abs(mean-common) > 0.01*common {
		t.Errorf("mean %v, want %v", mean, common)
	}
}

func TestCommonErrors(t *testing.T) {
	a := Array{Bits: 100}
	for name, f := range map[string]func() (float64, error){
		"array": func() (float64, error) { return Array{}.Common(1, 2) },
		"none":  func() (float64, error) { return a.Common(0) },
		"count": func() (float64, error) { return a.Common(1, 2, 101) },
		"all":   func() (float64, error) { return a.Common(3, 2, 5) },
	} {
		if _, err := f(); !errors.Is(err, ErrRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := a.Common(100, 100, 100); err != nil || !math.IsInf(n, 1) {
		t.Errorf("full: %v, %v", n, err)
	}
}
