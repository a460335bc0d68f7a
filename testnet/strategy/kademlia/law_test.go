package kademlia_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/kademlia"
)

// Maymounkov and Mazières 2002, section 3: lookups take log2 n steps and a small constant, for each step at least
// halves the distance. With buckets of 20 there are log2 (n/20) halvings until all that are nearer are known. Here
// the constant is two: asking a peer that keeps the record, and the provider. Eight times the peers take more steps.
func TestKademliaSteps(t *testing.T) {
	before := 0.0
	for _, peers := range []int{50, 400} {
		r := simtest.Run(t, simtest.Draw(sim.Config{
			Strategy: kademlia.Strategy, Data: simtest.Clusters(t, peers, 5), Seed: 3,
			Warmup: 20 * time.Second, Asking: 10 * time.Second, Patience: 10 * time.Second,
		}, 300))
		t.Logf("%d peers: recall %v, %.3f hops", peers, r.Recall, r.Hops)
		most := int(math.Ceil(math.Log2(float64(peers)/20))) + 2
		for _, q := range r.Queries {
			if q.Found == 0 || q.Hops > most {
				t.Errorf("%d peers: found %d, %d hops, at most %d", peers, q.Found, q.Hops, most)
			}
		}
		if r.Hops < before+0.1 {
			t.Errorf("%d peers: %.3f hops, and %.3f among an eighth of them", peers, r.Hops, before)
		}
		before = r.Hops
	}
}
