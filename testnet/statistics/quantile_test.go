package statistics_test

import (
	"testing"

	"github.com/venn-p2p/venn/testnet/statistics"
)

func TestQuantile(t *testing.T) {
	for q, want := range map[float64]int{0: 10, 0.2: 10, 0.5: 20, 0.8: 30, 0.99: 40, 1: 40} {
		if got := statistics.Quantile([]int{10, 40, 30, 20, 20}, q); got != want {
			t.Errorf("at %v: %v, want %d", q, got, want)
		}
	}
	if statistics.Quantile([]int(nil), 0.5) != 0 {
		t.Error("of nothing")
	}
}
