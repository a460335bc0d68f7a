package strategy_test

import (
	"testing"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Trials of neighbouring seeds share no seed, and no two purposes or numbers share a stream.
func TestSeedsAreApart(t *testing.T) {
	seeds := map[uint64]bool{}
	for seed := range uint64(100) {
		for trial := range 20 {
			seeds[strategy.TrialSeed(seed, trial)] = true
		}
	}
	if len(seeds) != 2000 {
		t.Errorf("%d seeds of 2000 trials", len(seeds))
	}
	firsts := map[uint64]bool{}
	for _, purpose := range []string{"a", "b", "topology"} {
		for number := range uint64(50) {
			for seed := range uint64(20) {
				firsts[strategy.Random(seed, purpose, number).Uint64()] = true
			}
		}
	}
	if len(firsts) != 3000 {
		t.Errorf("%d streams of 3000 begin in their own way", len(firsts))
	}
}
