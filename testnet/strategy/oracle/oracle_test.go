package oracle_test

import (
	"testing"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
)

// The oracle finds everything with a question and its answer, and sends nothing else.
func TestOracle(t *testing.T) {
	r := simtest.Run(t, simtest.Draw(sim.Config{Strategy: oracle.Strategy, Data: simtest.Clusters(t, 100, 100), Seed: 3}, 500))
	if t.Logf("recall %v", r.Recall); r.Recall != 1 || r.Wrong != 0 || len(r.Queries) != 500 || r.Messages != 2 || r.Wasted != 0 || r.Upkeep != r.Connect {
		t.Errorf("recall %v of %d queries, %d wrong, %v messages, %v probes wasted", r.Recall, len(r.Queries), r.Wrong, r.Messages, r.Wasted)
	}
}
