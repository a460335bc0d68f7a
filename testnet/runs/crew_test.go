package runs

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Every task is done once, and all of a round before the next one begins: of few tasks and many, by one and by several,
// whether the others are awake or asleep, and when more join.
func TestCrew(t *testing.T) {
	for processors := range 5 {
		c := NewCrew(processors)
		for round := range 3000 {
			if round%1000 == 999 {
				c.Grow(processors + round/1000)
			}
			n := round % 20
			done := make([]int, n)
			var all atomic.Int64
			c.Each(n, func(i int) {
				if round%100 == 0 && i == n/2 {
					time.Sleep(time.Millisecond) // the others fall asleep
				}
				done[i]++
				all.Add(1)
			})
			if all.Load() != int64(n) || slices.ContainsFunc(done, func(times int) bool { return times != 1 }) {
				t.Fatalf("%d processors, round %d: %v", processors, round, done)
			}
			if round%500 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		c.Close()
	}
}
