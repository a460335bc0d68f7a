package venn_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// Summaries live for an hour, are renewed, and peers restart with later ones. Queries after a hundred minutes find as
// much as those of the first minutes, at the same cost.
func TestVennForHours(t *testing.T) {
	if testing.Short() {
		t.Skip("virtual hours")
	}
	cfg := sim.Config{Strategy: venn.Strategy, Data: simtest.Clusters(t, 40, 60), Seed: 3, Asking: 5 * time.Minute}
	for name, churn := range map[string]sim.Churn{"nobody leaves": {}, "sessions of 1.4 min": {Median: 84 * time.Second}} {
		cfg.Warmup = 10 * time.Minute
		early := simtest.Run(t, simtest.Draw(cfg, 300, churn))
		cfg.Warmup = 100 * time.Minute
		late := simtest.Run(t, simtest.Draw(cfg, 300, churn))
		t.Logf("%s: after 10 min: recall %.4f, %.2f messages, %.0f bytes; after 100 min: %.4f, %.2f, %.0f", name, early.Recall,
			early.Messages, early.Upkeep, late.Recall, late.Messages, late.Upkeep)
		if late.Recall < 0.95 {
			t.Errorf("%s: recall %v after 100 minutes", name, late.Recall)
		}
		if late.Messages > 1.2*early.Messages+0.5 {
			t.Errorf("%s: %v messages a query, %v in the first minutes", name, late.Messages, early.Messages)
		}
	}
}
