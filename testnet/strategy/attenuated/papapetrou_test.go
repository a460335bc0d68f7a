package attenuated

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Peers share whole filters. To look into the first blocks of one, however few, leaves it as it was.
func TestCutSharesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	collection := make([]summary.Fingerprint, 60)
	for i := range collection {
		collection[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	r := &reducedRun{
		world:   strategy.World{Collection: func(strategy.ID) []summary.Fingerprint { return collection }},
		filters: make([]atomic.Pointer[bloom.Filter], reducedMost),
	}
	whole := r.filter(0).Clone()
	for blocks := 1; blocks <= reducedMost; blocks++ {
		want := whole.Clone()
		want.Truncate(blocks)
		if got := r.cut(reducedFilter{0, blocks}); !got.Equal(want) {
			t.Errorf("%d blocks are not the filter's first ones", blocks)
		}
	}
	if !r.filter(0).Equal(whole) {
		t.Error("the whole filter has changed")
	}
}
