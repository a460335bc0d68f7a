package sim_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

func TestVenn(t *testing.T) {
	for _, all := range []bool{false, true} {
		r := run(t, sim.Config{
			Strategy: strategy.Venn, Data: clusters(t, 200, 200), Queries: 1000, All: all, Seed: 3, Warmup: 60 * time.Second,
			Asking: 20 * time.Second, Patience: 10 * time.Second,
		})
		t.Logf("%+v", r)
		if r.Recall < 0.99 || r.Wrong != 0 {
			t.Errorf("recall %v, %d wrong", r.Recall, r.Wrong)
		}
	}
}
