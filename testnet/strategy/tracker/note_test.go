package tracker

import (
	"testing"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// TestLeavingTakesAll: of a peer that leaves the tracker forgets the keys that it came with, and those added since.
func TestLeavingTakesAll(t *testing.T) {
	r := &run{holders: map[summary.Fingerprint][]strategy.ID{}, keys: make([][]summary.Fingerprint, 2)}
	p := &peer{run: r}
	for _, body := range []any{all{[]summary.Fingerprint{1, 2}}, change{key: 3, held: true}, change{key: 1}, all{}} {
		p.note(1, body)
	}
	for key, holders := range r.holders {
		if len(holders) > 0 {
			t.Errorf("key %d is held by %d", key, holders)
		}
	}
}
