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

// The score interval of Wilson (1927): of 0 of 10 up to .2775, of 5 of 10 from .2366; of 10,000 of 10,000 from .99962.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		share     float64
		n         int
		low, high float64
	}{{0, 10, 0, 0.27754}, {0.5, 10, 0.23659, 0.76341}, {1, 10_000, 0.999616, 1}} {
		if low, high := statistics.Wilson(c.share, c.n); math.Abs(low-c.low) > 1e-5 || math.Abs(high-c.high) > 1e-5 {
			t.Errorf("%v of %d: %v to %v", c.share, c.n, low, high)
		}
	}
	if m := statistics.ShareOf([]float64{1, 1, 1}, 300); m.Half < 0.01 || m.Half > 0.02 {
		t.Errorf("trials that all show 1: %v", m)
	}
	if m := statistics.ShareOf([]float64{0.1, 0.9}, 1000); m.Half < 1 {
		t.Errorf("trials far apart: %v", m)
	}
}

// Pairs that differ by the same show it, however far the trials are apart.
func TestPaired(t *testing.T) {
	a, b := []float64{1, 5, 9}, []float64{2, 6.1, 9.9}
	d := statistics.Paired(a, b)
	if math.Abs(d.Value-1) > 1e-9 || d.Half > 0.3 {
		t.Errorf("in pairs %v", d)
	}
	if apart := statistics.Difference(statistics.MeanOf(a), statistics.MeanOf(b)); apart.Half < 5 {
		t.Errorf("by Welch %v", apart)
	}
}
