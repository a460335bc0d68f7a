package strategies_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategies"
)

// Messages that come twice neither hide holders nor multiply: a strategy takes an answer once.
func TestDuplicates(t *testing.T) {
	for _, s := range strategies.Named() {
		for _, all := range []bool{false, true} {
			run := func(duplicated float64) simtest.Report {
				return simtest.Run(t, simtest.Draw(sim.Config{
					Strategy: s, Data: simtest.Clusters(t, 40, 30), All: all, Duplicated: duplicated, Seed: 2,
					Warmup: 20 * time.Second, Asking: 10 * time.Second, Patience: 10 * time.Second,
				}, 60))
			}
			once, twice := run(0), run(0.1)
			t.Logf("%s, all %v: recall %.3f and %.3f, messages %.1f and %.1f", s.Name, all, once.Recall, twice.Recall, once.Messages, twice.Messages)
			if twice.Recall < once.Recall-0.02 {
				t.Errorf("%s, all %v: recall %.3f, %.3f where a tenth of the messages comes twice", s.Name, all, once.Recall, twice.Recall)
			}
			if twice.Messages > 1.5*once.Messages {
				t.Errorf("%s, all %v: %.1f messages, %.1f where a tenth of them comes twice", s.Name, all, once.Messages, twice.Messages)
			}
		}
	}
}
