package venn_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// TestStar has far more peers begin at one or three than these have places for. After ten seconds nobody is alone, those
// at which all begin have no more links than places, and each key is found. With VENN_STAR set there are a thousand.
func TestStar(t *testing.T) {
	for _, centres := range []int{1, 3} {
		t.Run(fmt.Sprint(centres), func(t *testing.T) {
			peers := 100
			switch {
			case os.Getenv("VENN_STAR") != "":
				peers = 1000 // 35 s of a processor
			case !testing.Short():
				peers = 300
			}
			s, err := sim.New(simtest.Draw(sim.Config{
				Strategy: venn.Strategy, Data: simtest.Clusters(t, peers, 20), Seed: 1, Warmup: 10 * time.Second, Asking: time.Second,
				Patience: time.Second, Topology: sim.Topology{Kind: sim.Star, Degree: centres},
			}, 100))
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Run()
			if err != nil {
				t.Fatal(err)
			}
			alone := 0
			for p := range strategy.ID(peers) {
				if len(s.Links(p)) == 0 {
					alone++
				}
			}
			if alone > 0 || simtest.Of(r).Recall < 1 {
				t.Errorf("%d of %d peers are alone, recall %v", alone, peers, simtest.Of(r).Recall)
			}
			for p := range strategy.ID(centres) {
				t.Logf("peer %d: %d links", p, len(s.Links(p)))
				if n := len(s.Links(p)); n > core.Connections {
					t.Errorf("peer %d has %d links, of which %d may be taken", p, n, core.Connections/2)
				}
			}
		})
	}
}
