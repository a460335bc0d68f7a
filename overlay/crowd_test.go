package overlay_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/overlaytest"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Peers that all have addresses of one group, larger than a group of strangers may be, know each other.
func TestOneGroup(t *testing.T) {
	for seed := range uint64(12) {
		const peers = 30
		cfg := overlay.Config{Up: fast, Down: fast, Group: func(wire.Record) string { return "one" }, MaxGroup: 5}
		configs := make([]overlay.Config, peers)
		for i := range configs {
			configs[i] = cfg
		}
		net, err := overlaytest.New(configs, seed)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 99))
		for i := range peers {
			if err := net.Publish(i, overlaytest.Fingerprints(20, 10, uint64(i))); err != nil {
				t.Fatal(err)
			}
			for range min(i, 2) {
				net.Connect(i, rng.IntN(i))
			}
		}
		net.Run(time.Minute)
		for i, p := range net.Peers {
			if n := p.Overlay.Origins(); n != peers-1 {
				t.Errorf("seed %d: peer %d knows %d of %d", seed, i, n, peers-1)
			}
			if len(p.Faults) > 0 {
				t.Errorf("seed %d: peer %d reported %v of honest peers", seed, i, p.Faults)
			}
		}
	}
}
