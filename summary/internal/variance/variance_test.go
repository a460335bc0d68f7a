package variance

import (
	"math"
	"testing"
)

// TestDeviationOfFull asks for the deviation at loads up to where the variances are no longer numbers.
func TestDeviationOfFull(t *testing.T) {
	a := Array{Bits: 1 << 10, Blocks: 1, Hashes: 1, Counted: 1 << 10}
	deviation := func(n, common float64) float64 {
		_, _, variance := a.Control(Loads{a.Load(n), a.Load(n), a.Load(common)})
		return math.Sqrt(variance)
	}
	last := 0.0
	for load := 1.0; load < 1e6; load *= 1.3 {
		n := load * 1024
		for _, common := range []float64{0, n / 2, 0.99 * n} {
			if d := deviation(n, common); math.IsNaN(d) {
				t.Errorf("load %.0f, %.0f in common: %v", load, common, d)
			}
		}
		d := deviation(n, 0)
		if d < last {
			t.Errorf("load %.0f: deviation %v, less than %v of a lower load", load, d, last)
		}
		last = d
	}
}
