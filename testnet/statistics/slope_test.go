package statistics

import (
	"math"
	"testing"
)

func TestSlope(t *testing.T) {
	xs := []float64{100, 200, 500, 1000, 1000}
	for _, a := range []float64{-1, 0, 0.5, 1, 2} {
		ys := make([]float64, len(xs))
		for i, x := range xs {
			ys[i] = 3 * math.Pow(x, a)
		}
		if got, _, ok := Slope(xs, ys); !ok || math.Abs(got-a) > 1e-12 {
			t.Errorf("3 x^%v has slope %v, %v", a, got, ok)
		}
	}
	// By hand: logarithms (0, 0), (1, 1), (2, 1) of base e have the slope 1/2.
	if got, _, ok := Slope([]float64{1, math.E, math.E * math.E}, []float64{1, math.E, math.E}); !ok || math.Abs(got-0.5) > 1e-12 {
		t.Errorf("slope %v, %v, want 0.5", got, ok)
	}
	// Its interval by hand: off the line by -1/6, 1/3 and -1/6, so 12.706 √((1/6)/1/2).
	_, half, _ := Slope([]float64{1, math.E, math.E * math.E}, []float64{1, math.E, math.E})
	if want := 12.706 * math.Sqrt(1.0/12); math.Abs(half-want) > 1e-9 {
		t.Errorf("the slope's interval is ± %v, want %v", half, want)
	}
	// Points without a logarithm are left out.
	if got, _, ok := Slope([]float64{1, 10, 100, 1000, 0}, []float64{1, 10, 0, math.NaN(), 7}); !ok || math.Abs(got-1) > 1e-12 {
		t.Errorf("slope %v, %v, want 1", got, ok)
	}
	for name, xs := range map[string][]float64{"nothing": nil, "one": {3}, "one x": {3, 3, 3}, "zeros": {0, 0, 1}} {
		if got, _, ok := Slope(xs, make([]float64, len(xs))); ok {
			t.Errorf("%s: slope %v", name, got)
		}
	}
	if got, _, ok := Slope([]float64{3, 3}, []float64{1, 2}); ok {
		t.Errorf("one x: slope %v", got)
	}
}
