package planetp_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/planetp"
)

// Cuenca-Acuna et al. 2003, its measurements of gossiping: the time until a change is known everywhere grows with the
// logarithm of the community. While few know a rumour, they double in each round of a second. So eight times the peers
// take three rounds more until a peer knows it, on average.
func TestRumoursDouble(t *testing.T) {
	const comes, asking, trials = 30 * time.Second, 30 * time.Second, 20
	known := map[int]float64{} // mean seconds until a peer knows a newcomer's key
	for _, peers := range []int{32, 256} {
		collections := make([][]uint32, peers)
		fingerprints := make([]summary.Fingerprint, peers)
		for p := range collections {
			collections[p], fingerprints[p] = []uint32{uint32(p)}, summary.Fingerprint(strategy.Scramble(uint64(p)))
		}
		data, err := sim.NewData(fingerprints, collections)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(trials) {
			script := sim.Script{Moves: []sim.Move{{At: time.Millisecond, Peer: 0}, {At: comes, Peer: 0, Online: true}}}
			for p := 1; p < peers; p++ {
				at := comes + time.Duration(float64(asking)*float64(p)/float64(peers))
				script.Asks = append(script.Asks, sim.Ask{At: at, Peer: strategy.ID(p), Key: 0})
			}
			r := simtest.Run(t, sim.Config{
				Strategy: planetp.Strategy, Params: strategy.Params{Values: map[string]float64{"bits": 32}}, Data: data, Script: script, Seed: seed,
				Warmup: comes, Asking: asking, Patience: time.Second,
			})
			missed := 0.0 // queries of peers that did not know it yet: the sum over time is the mean
			for _, q := range r.Queries {
				if q.Found == 0 {
					missed++
				}
			}
			known[peers] += asking.Seconds() * missed / float64(len(r.Queries)) / trials
		}
	}
	more, want := known[256]-known[32], math.Log2(8)
	t.Logf("a peer knows it after %.2f s of 32, %.2f s of 256: %.2f s more, want %.0f", known[32], known[256], more, want)
	if math.Abs(more-want) > 1 {
		t.Errorf("a peer knows it %.2f s later among eight times the peers, want %.0f ± 1", more, want)
	}
}
