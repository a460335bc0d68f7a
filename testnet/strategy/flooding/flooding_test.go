package flooding_test

import (
	"testing"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
)

// Flooding finds everything, and nearly everybody is asked.
func TestFlooding(t *testing.T) {
	r := simtest.Run(t, simtest.Draw(sim.Config{Strategy: flooding.Strategy, Data: simtest.Clusters(t, 100, 100), Seed: 3}, 500))
	if t.Logf("recall %v", r.Recall); r.Recall != 1 || r.Wrong != 0 || len(r.Queries) != 500 || r.Messages < 90 || r.Hops < 1 {
		t.Errorf("recall %v of %d queries, %d wrong, %v messages over %v hops", r.Recall, len(r.Queries), r.Wrong, r.Messages, r.Hops)
	}
}
