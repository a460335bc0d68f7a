package qrp_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/qrp"
)

// Rohrs 2002: a table has 65,536 slots and one hash function, so a query for a key that a peer lacks reaches that peer
// with the share of the slots that its n keys fill: 1-(1-1/65536)^n. A query for all holders comes to every table.
func TestTablesMatch(t *testing.T) {
	const peers, keys = 150, 2000
	r := simtest.Run(t, simtest.Draw(sim.Config{
		Strategy: qrp.Strategy, Data: simtest.Clusters(t, peers, keys), All: true, Seed: 3,
		Warmup: 40 * time.Second, Asking: 10 * time.Second, Patience: 100 * time.Second,
	}, 600))
	holders := r.Probes - r.Wasted
	want := (peers - 1 - holders) * (1 - math.Pow(1-1.0/(1<<16), keys))
	t.Logf("recall %v, %.3f wasted probes a query, want %.3f", r.Recall, r.Wasted, want)
	if r.Recall < 0.999 || math.Abs(r.Wasted/want-1) > 0.1 {
		t.Errorf("recall %v, %.3f wasted probes a query, want about %.3f", r.Recall, r.Wasted, want)
	}
}
