package runs

import (
	"slices"
	"sync/atomic"
	"testing"
)

// Every task is done once, and all of them before the call returns: of few and many, by one and by several.
func TestParallel(t *testing.T) {
	for processors := range 5 {
		for n := range 20 {
			done := make([]int, n)
			var all atomic.Int64
			Parallel(n, processors, func(i int) {
				done[i]++
				all.Add(1)
			})
			if all.Load() != int64(n) || slices.ContainsFunc(done, func(times int) bool { return times != 1 }) {
				t.Fatalf("%d processors: %v", processors, done)
			}
		}
	}
}
