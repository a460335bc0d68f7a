package estimate

import (
	"math/rand/v2"
	"testing"
)

// Where a small part of the bits is counted, few elements may set none of them, and two sets' common elements neither:
// the intervals hold the truth as often as they claim all the same.
func TestNothingInTheSample(t *testing.T) {
	const bits, sample, trials, confidence = 1 << 16, 1 << 9, 2000, 0.95
	const own, both = 400, 100 // of each of two sets, in common: .8 of these in the sample on average
	a := Array{Bits: bits, Sample: sample}
	rng := rand.New(rand.NewPCG(1, 2))
	few, common := 0, 0
	for range trials {
		first, second := map[int]bool{}, map[int]bool{}
		count := 0
		draw := func(into ...map[int]bool) {
			if bit := rng.IntN(bits); bit < sample {
				for _, set := range into {
					set[bit] = true
				}
			}
		}
		for range both {
			draw(first, second)
		}
		alone := len(first) // ones of the common elements, as a set of its own
		for range own - both {
			draw(first)
			draw(second)
		}
		for bit := range first {
			if second[bit] {
				count++
			}
		}
		one, err := a.EstimateCardinality(alone, confidence)
		if err != nil {
			t.Fatal(err)
		}
		if one.Low <= both && both <= one.High {
			few++
		}
		o, err := a.EstimateOverlap(Counts{len(first), len(second), count}, confidence)
		if err != nil {
			t.Fatal(err)
		}
		if i := o.Intersection; i.Low <= both && both <= i.High {
			common++
		}
	}
	for name, held := range map[string]int{"cardinality": few, "intersection": common} {
		if float64(held) < 0.93*trials {
			t.Errorf("%s: %d of %d intervals hold %d, at a confidence of %v", name, held, trials, both, confidence)
		}
	}
}
