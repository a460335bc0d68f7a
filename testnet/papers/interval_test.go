package papers

import (
	"math"
	"testing"
)

// TestTailInverted compares the closed form with what it inverts, by bisection.
func TestTailInverted(t *testing.T) {
	for _, count := range []float64{2, 3, 10, 1000, 1e6, 1e9} {
		for _, alpha := range []float64{0.5, 0.15, 0.025, 1e-6, 1e-12} {
			tail := -math.Log(alpha)
			high := bisect(count+1, 100*count+1000, func(s float64) bool { return highTail(count, s) <= alpha })
			if got := moreOnes(count, tail); math.Abs(got-high) > 1e-6*high {
				t.Errorf("more than %v at %v: %v, bisected %v", count, alpha, got, high)
			}
		}
	}
}
