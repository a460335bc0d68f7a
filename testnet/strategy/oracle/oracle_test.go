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
	if t.Logf("%+v", r); r.Recall != 1 || r.Wrong != 0 || r.Queries != 500 || r.MessagesPerQuery != 2 || r.WastedProbesPerQuery != 0 || r.UpkeepBytesPerPeer != r.ConnectBytes {
		t.Errorf("recall %v of %d queries, %d wrong, %v messages, %v probes wasted", r.Recall, r.Queries, r.Wrong, r.MessagesPerQuery, r.WastedProbesPerQuery)
	}
}
