package statistics_test

import (
	"math"
	"testing"

	"github.com/venn-p2p/venn/testnet/statistics"
)

// Intervals are Student's: 1, 2, 3 have a mean of 2 ± 2.484.
func TestMeanOf(t *testing.T) {
	m := statistics.MeanOf([]float64{1, 2, 3, math.NaN()})
	if m.Value != 2 || math.Abs(m.Half-4.303/math.Sqrt(3)) > 1e-9 || m.N != 3 || m.Least != 1 || m.Most != 3 {
		t.Errorf("%+v", m)
	}
	if m := statistics.MeanOf([]float64{5}); m.Half != 0 || m.String() != "5" {
		t.Errorf("%+v, %s", m, m)
	}
	many := make([]float64, 31)
	for i := range many {
		many[i] = float64(i % 2)
	}
	if m := statistics.MeanOf(many); math.Abs(m.Half-2.0423*math.Sqrt(m.Value*(1-m.Value)*31/30/31)) > 1e-4 {
		t.Errorf("%+v", m)
	}
}
