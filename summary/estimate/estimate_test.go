package estimate

import (
	"errors"
	"math"
	"testing"
)

func TestErrors(t *testing.T) {
	a := Array{Bits: 100}
	common := func(a Array, confidence float64, all int, each ...int) func() error {
		return func() error { _, err := a.EstimateCommon(confidence, all, each...); return err }
	}
	failing := map[string]func() error{
		"common, array":      common(Array{}, 0.9, 1, 2),
		"common, none":       common(a, 0.9, 0),
		"common, count":      common(a, 0.9, 1, 2, 101),
		"common, all":        common(a, 0.9, 3, 2, 5),
		"common, confidence": common(a, 1, 1, 2, 5),

		"Bits":       func() error { _, err := Array{Bits: 1}.EstimateCardinality(0, 0.9); return err },
		"Blocks":     func() error { _, err := Array{Bits: 9, Blocks: -1}.EstimateCardinality(0, 0.9); return err },
		"Hashes":     func() error { _, err := Array{Bits: 9, Hashes: -1}.EstimateCardinality(0, 0.9); return err },
		"Sample":     func() error { _, err := Array{Bits: 9, Sample: 10}.EstimateCardinality(0, 0.9); return err },
		"ones":       func() error { _, err := a.EstimateCardinality(101, 0.9); return err },
		"negative":   func() error { _, err := a.EstimateCardinality(-1, 0.9); return err },
		"confidence": func() error { _, err := a.EstimateCardinality(5, 1); return err },
		"no number":  func() error { _, err := a.EstimateCardinality(5, math.NaN()); return err },
		"Second":     func() error { _, err := a.intersection(Counts{5, 101, 5}, 0.9); return err },
		"Both":       func() error { _, err := a.intersection(Counts{5, 6, 7}, 0.9); return err },
		"either":     func() error { _, err := a.EstimateOverlap(Counts{60, 60, 10}, 0.9); return err },
		"known":      func() error { _, err := a.EstimateIntersection(Counts{5, 6, 4}, -1, 5, 0.9); return err },
	}
	for name, f := range failing {
		if err := f(); !errors.Is(err, errRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSaturated(t *testing.T) {
	a := Array{Bits: 1000}
	one, _ := a.EstimateCardinality(1000, 0.95) // TestVectors has the rest
	// With that number of elements an array of 1000 bits is full with probability 1-0.95: e^(-m e^(-n/m)).
	if p := math.Exp(-1000 * math.Exp(-one.Low/1000)); math.Abs(p-0.05) > 1e-12 {
		t.Errorf("full with probability %v at the bound", p)
	}
	both, err := a.intersection(Counts{800, 900, 700}, 0.95)
	if err != nil || !both.Saturated || both.Low != 0 || !math.IsInf(both.Value, 1) {
		t.Errorf("full union: %+v, %v", both, err)
	}
	if n, err := a.EstimateCommon(0.9, 1000, 1000, 1000); err != nil || !n.Saturated {
		t.Errorf("full: %v, %v", n, err)
	}
}

// TestSampleOfAll: a sample of all bits is no sample.
func TestSampleOfAll(t *testing.T) {
	a, _ := Array{Bits: 4096}.intersection(Counts{1000, 1200, 500}, 0.9)
	if b, _ := (Array{Bits: 4096, Sample: 4096}).intersection(Counts{1000, 1200, 500}, 0.9); a != b {
		t.Errorf("%+v, %+v", a, b)
	}
}

// FuzzInterval holds every interval to what it promises: numbers in order, from 0 to what the smaller set may have.
func FuzzInterval(f *testing.F) {
	f.Add(uint32(8192), uint8(1), uint8(2), uint32(0), uint32(5000), uint32(4000), uint32(3000), uint8(90))
	f.Add(uint32(64), uint8(4), uint8(1), uint32(16), uint32(30), uint32(1), uint32(1), uint8(70))
	f.Fuzz(func(t *testing.T, m uint32, blocks, hashes uint8, sample, t1, t2, both uint32, percent uint8) {
		a := Array{Bits: uint64(m%1e7) + 2, Blocks: int(blocks), Hashes: int(hashes)}
		a.Sample = uint64(sample) % (a.Bits + 1)
		all := int(a.counted())
		c := Counts{First: int(t1) % (all + 1), Second: int(t2) % (all + 1)}
		least := max(0, c.First+c.Second-all)
		c.Both = least + int(both)%(min(c.First, c.Second)-least+1)
		confidence := (float64(percent%99) + 0.5) / 100
		one, err := a.EstimateCardinality(c.First, confidence)
		check(t, one, err)
		o, err := a.EstimateOverlap(c, confidence)
		check(t, o.Union, err)
		if o.Union.Value < one.Value {
			t.Errorf("union %+v below %+v", o.Union, one)
		}
		check(t, o.Intersection, err)
		if !o.Intersection.Saturated && o.Intersection.High > one.High {
			t.Errorf("intersection %+v above %+v", o.Intersection, one)
		}
		known, err := a.EstimateIntersection(c, float64(c.First), float64(c.Second), confidence)
		check(t, known, err)
	})
}

func check(t *testing.T, i Interval, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !(0 <= i.Low && i.Low <= i.Value && i.Value <= i.High) || i.Saturated != math.IsInf(i.Value, 1) {
		t.Errorf("%+v", i)
	}
}

func TestNoAllocations(t *testing.T) {
	a, c := Array{Bits: 8192, Hashes: 2}, Counts{5107, 5107, 3915}
	allocs := testing.AllocsPerRun(10, func() {
		a.EstimateCardinality(c.First, 0.9)
		a.EstimateOverlap(c, 0.9)
		a.EstimateIntersection(c, 4000, 4000, 0.9)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
