package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Few events and many are sorted by time, and those of one time stay in their order.
func TestSortEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 80 {
		events := make([]event, n)
		for i := range events {
			events[i] = event{at: time.Duration(rng.IntN(10)), msg: strategy.Message{Bytes: i}}
		}
		sortEvents(events)
		if !slices.IsSortedFunc(events, func(a, b event) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.msg.Bytes, b.msg.Bytes))
		}) {
			t.Errorf("%d events: %v", n, events)
		}
	}
}
