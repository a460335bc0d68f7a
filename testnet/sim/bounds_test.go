package sim_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Collections beyond all bounds are refused before anything is made of them.
func TestTooMuchData(t *testing.T) {
	for name, c := range map[string]sim.Clusters{
		"keys":     {Peers: 4, Keys: 1 << 61, Size: 1},
		"more":     {Peers: 10, Keys: 9e18}, // some products overflow
		"many":     {Peers: 10, Keys: 1 << 28},
		"size":     {Peers: 100, Keys: 10, Size: math.MaxInt},
		"holdings": {Peers: 1 << 20, Keys: 1 << 20, Size: 1 << 20, Copies: 1 << 40},
		"copies":   {Peers: 4, Keys: 1 << 40, Copies: math.MaxInt},
		"peers":    {Peers: 1 << 40, Keys: 1},
		"share":    {Peers: 4, Keys: 10, Outside: math.NaN()},
		"zipf":     {Peers: 4, Keys: 10, Zipf: math.NaN()},
	} {
		if _, err := sim.NewClusters(c, rand.New(rand.NewPCG(1, 1))); !errors.Is(err, sim.ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where popularity falls so steeply that the same few keys are drawn for ever, a collection is completed with others of
// the interest.
func TestSteepPopularity(t *testing.T) {
	d, err := sim.NewClusters(sim.Clusters{Peers: 3, Keys: 300, Zipf: 10}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for p := range strategy.ID(3) {
		if n := len(d.Collection(p)); n != 300 {
			t.Errorf("peer %d holds %d keys", p, n)
		}
	}
}

// What would arrive long after the end is in no second of the run.
func TestSecondsEndWithTheRun(t *testing.T) {
	talks := strategy.Strategy{Name: "talks", Open: func(strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer {
			return stepper(func(_ time.Duration, in strategy.Input) {
				if o, opened := in.(strategy.LinkOpened); opened {
					h.Send(o.Peer, strategy.Message{Bytes: 10_000})
				}
			})
		}, nil
	}}
	r := simtest.Run(t, sim.Config{
		Strategy: talks, Data: simtest.Clusters(t, 4, 10), Asking: time.Second, Patience: time.Second,
		Rates: func(strategy.ID) (up, down uint64) { return 1000, 1000 },
	})
	if n := len(r.Seconds); n > 3 {
		t.Errorf("%d seconds of a run of %v", n, r.Virtual)
	}
}
