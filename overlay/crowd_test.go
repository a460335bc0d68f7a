package overlay_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Peers that all have addresses of one group, larger than a group of strangers may be, know each other.
func TestOneGroup(t *testing.T) {
	for _, c := range []struct{ peers, most, seeds int }{{30, 5, 12}, {200, 5, 1}, {200, 0, 1}} { // 0: as shipped
		for seed := range uint64(c.seeds) {
			configs := make([]overlay.Config, c.peers)
			for i := range configs {
				configs[i] = overlay.Config{Up: fast, Down: fast, Group: func(wire.Record) string { return "one" }, MaxGroup: c.most}
			}
			net, err := overlaylab.New(configs, seed)
			if err != nil {
				t.Fatal(err)
			}
			net.Unchecked = c.peers > 100
			rng := rand.New(rand.NewPCG(seed, 99))
			for i := range c.peers {
				net.Publish(i, overlaylab.Fingerprints(20, 10, uint64(i)))
				for range min(i, 2) {
					net.Connect(i, rng.IntN(i))
				}
			}
			net.Run(20 * time.Second)
			for i, p := range net.Peers {
				if n := p.Overlay.Origins(); n != c.peers-1 || p.Overlay.Incomplete() {
					t.Errorf("%+v, seed %d: peer %d knows %d of %d, incomplete: %v", c, seed, i, n, c.peers-1, p.Overlay.Incomplete())
				}
				if len(p.Faults) > 0 {
					t.Errorf("%+v, seed %d: peer %d reported %v of honest peers", c, seed, i, p.Faults)
				}
			}
		}
	}
}
