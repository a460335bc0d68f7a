package bitswap_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/bitswap"
)

// A broadcast asks each linked peer once, and finds the share of all holders that are linked.
func TestBitswap(t *testing.T) {
	const peers = 30
	for _, degree := range []int{8, 8 * peers} {
		r := simtest.Run(t, simtest.Draw(sim.Config{
			Strategy: bitswap.Strategy, Data: simtest.Clusters(t, peers, 30), Seed: 3, Warmup: 5 * time.Second, Asking: 20 * time.Second,
			Patience: 10 * time.Second, Topology: sim.Topology{Degree: degree}, All: true,
		}, 500))
		if asked := r.Messages / 2 / (peers - 1); math.Abs(r.Recall-asked) > 0.03 || asked < 0.2 || asked > 1 {
			t.Errorf("degree %d: recall %v, a query asks a share of %v of the peers", degree, r.Recall, asked)
		}
	}
}
