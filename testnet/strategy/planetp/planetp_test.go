package planetp_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/planetp"
)

// PlanetP: a peer with all filters finds all holders. It asks in vain as many peers as the filters' false-positive rate
// says.
func TestPlanetP(t *testing.T) {
	const peers, keys, bits = 150, 100, 8
	cfg := simtest.Draw(sim.Config{
		Strategy: planetp.Strategy, Params: strategy.Params{Values: map[string]float64{"bits": bits}}, Data: simtest.Clusters(t, peers, keys),
		All: true, Seed: 3, Warmup: time.Minute, Asking: 20 * time.Second, Patience: 10 * time.Second,
	}, 3000)
	r := simtest.Run(t, cfg)
	t.Logf("%+v", r)
	if r.Recall < 0.999 || r.Wrong != 0 {
		t.Errorf("recall %v, %d wrong", r.Recall, r.Wrong)
	}
	// Two hash functions and m bits a key: m H(p) = 8 bits with p = 1-exp(-2/m) ones; the rate is p².
	m := 8.0
	p := func() float64 { return 1 - math.Exp(-2/m) }
	for m*entropy(p()) < bits {
		m += 0.001
	}
	holders := r.Probes - r.Wasted
	if want := p() * p() * (peers - 1 - holders); math.Abs(r.Wasted/want-1) > 0.1 {
		t.Errorf("%v wasted probes a query, want about %v", r.Wasted, want)
	}
	// Everybody gets every filter once, and a little talk.
	least := float64(peers * (keys*bits/8 + 48))
	if sent := r.Upkeep - r.Connect; sent < 0.9*least || sent > 1.6*least {
		t.Errorf("%v bytes of upkeep, the filters are %v", sent, least)
	}
	cfg.Params.Values["upkeep"] = 50
	r = simtest.Run(t, cfg)
	if sent := r.Upkeep - r.Connect; sent > 50*90*1.2 {
		t.Errorf("%v bytes of upkeep in 90 s, allowed are 50 a second", sent)
	}
}

// On slow lines, where filters are on their way for longer than ten rounds, nobody asks twice for what is under way.
func TestPlanetPAsksOnce(t *testing.T) {
	const peers, keys, bits = 40, 20_000, 8
	r := simtest.Run(t, sim.Config{
		Strategy: planetp.Strategy, Params: strategy.Params{Values: map[string]float64{"bits": bits}}, Data: simtest.Clusters(t, peers, keys), Seed: 3,
		Warmup: 2 * time.Minute, Asking: time.Second, Patience: time.Second, Rates: func(strategy.ID) (up, down uint64) { return 256_000, 256_000 },
	})
	least := float64((peers - 1) * (keys*bits/8 + 48))
	if sent := r.Upkeep - r.Connect; sent < 0.99*least || sent > 1.1*least {
		t.Errorf("%.0f bytes of upkeep, the filters of all others are %.0f", sent, least)
	}
	if r.Lines[0].Covers < 1 {
		t.Errorf("a peer has the filters of %.3f of the others", r.Lines[0].Covers)
	}
}

func entropy(p float64) float64 { return -p*math.Log2(p) - (1-p)*math.Log2(1-p) }
