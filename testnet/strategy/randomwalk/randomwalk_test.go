package randomwalk_test

import (
	"math"
	"testing"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/randomwalk"
)

// Walkers that nothing stops find the share of all holders that the peers they see are of all peers.
func TestRandomWalk(t *testing.T) {
	const peers = 300
	cfg := simtest.Draw(sim.Config{Strategy: randomwalk.Strategy, Data: simtest.Clusters(t, peers, 50), Seed: 3}, 500)
	r := simtest.Run(t, cfg)
	t.Logf("%+v", r)
	if r.Recall < 0.995 || r.Wrong != 0 || r.Upkeep != r.Connect {
		t.Errorf("find one: recall %v, %d wrong, upkeep %v", r.Recall, r.Wrong, r.Upkeep-r.Connect)
	}
	cfg.All, cfg.Params.Values = true, map[string]float64{"budget": 60}
	r = simtest.Run(t, cfg)
	t.Logf("%+v", r)
	if seen := r.Probes / (peers - 1); math.Abs(r.Recall-seen) > 0.02 {
		t.Errorf("find all: recall %v, but %v of all peers seen", r.Recall, seen)
	}
	if r.Messages < 50 || r.Messages > 65 { // and the answers
		t.Errorf("%v messages a query of a budget of 60", r.Messages)
	}
}
