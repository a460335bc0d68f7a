package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Few events and many are sorted by time, and those of one time as they were planned.
func TestSortEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 80 {
		events := make([]event, n)
		for i := range events {
			events[i] = event{at: time.Duration(rng.IntN(10)), seq: uint64(i)}
		}
		rng.Shuffle(n, func(i, j int) { events[i], events[j] = events[j], events[i] })
		sortEvents(events)
		if !slices.IsSortedFunc(events, func(a, b event) int {
			if a.before(&b) {
				return -1
			}
			return 1
		}) {
			t.Errorf("%d events: %v", n, events)
		}
	}
}
