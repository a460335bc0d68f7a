package kademlia_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/kademlia"
)

// Maymounkov and Mazières 2002, section 3: lookups take log2 n steps and a small constant, for each step at least halves
// the distance. The constant here is one: asking the provider. Ten times the peers take at least a tenth of a step more.
func TestKademliaSteps(t *testing.T) {
	before := 0.0
	for _, peers := range []int{60, 600} {
		r := simtest.Run(t, simtest.Draw(sim.Config{
			Strategy: kademlia.Strategy, Data: simtest.Clusters(t, peers, 5), Seed: 3,
			Warmup: 20 * time.Second, Asking: 10 * time.Second, Patience: 10 * time.Second,
		}, 500))
		t.Logf("%d peers: recall %v, %.3f hops", peers, r.Recall, r.Hops)
		for _, q := range r.Queries {
			if most := int(math.Ceil(math.Log2(float64(peers)))) + 1; q.Found == 0 || q.Hops > most {
				t.Errorf("%d peers: found %d, %d hops, at most %d", peers, q.Found, q.Hops, most)
			}
		}
		if r.Hops < before+0.1 {
			t.Errorf("%d peers: %.3f hops, and %.3f among a tenth of them", peers, r.Hops, before)
		}
		before = r.Hops
	}
}
