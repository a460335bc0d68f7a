package statistics_test

import (
	"math"
	"testing"

	"github.com/venn-p2p/venn/testnet/statistics"
)

// A difference is of as many trials as the mean of fewer, and its interval is Welch's: standard errors of 1 and 2, of 3
// and 10 trials, have 10.97 degrees of freedom, rounded down to 10.
func TestDifference(t *testing.T) {
	a, b := statistics.Mean{Value: 10, Half: 4.303, N: 3}, statistics.Mean{Value: 14, Half: 2 * 2.262, N: 10}
	for sign, d := range map[float64]statistics.Mean{1: statistics.Difference(a, b), -1: statistics.Difference(b, a)} {
		if want := 2.228 * math.Sqrt(5); d.Value != sign*4 || d.N != 3 || math.Abs(d.Half-want) > 1e-9 {
			t.Errorf("%+v, want %v ± %v of 3", d, sign*4, want)
		}
	}
	if d := statistics.Difference(a, statistics.MeanOf([]float64{14})); d.Value != 4 || d.Half != 0 || d.N != 1 {
		t.Errorf("from a single trial: %+v", d)
	}
}
