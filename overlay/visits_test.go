package overlay_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Peers that come for a moment are forgotten: some time later all who stayed know each other, and nobody else. With
// VENN_VISITS set 30 peers see 300 visits, which takes a minute.
func TestVisits(t *testing.T) {
	const every, keep = 2 * time.Second, 20 * time.Minute
	peers, visits := 20, 100
	switch {
	case os.Getenv("VENN_VISITS") != "":
		peers, visits = 30, 300
	case testing.Short():
		visits = 50
	}
	for _, stay := range []time.Duration{300 * time.Millisecond, time.Second} {
		t.Run(stay.String(), func(t *testing.T) {
			net := build(t, mixed(peers), 20, 6)
			net.Unchecked = true
			rng := rand.New(rand.NewPCG(6, 1))
			publish := func() {
				for i := range peers {
					net.Publish(i, overlaylab.Fingerprints(20, 10, uint64(i)))
				}
			}
			net.Run(time.Minute)
			for v := range visits {
				i, err := net.Add(wire.PeerID(fmt.Sprint("visitor", v)), overlay.Config{Up: fast, Down: fast})
				if err != nil {
					t.Fatal(err)
				}
				net.Publish(i, overlaylab.Fingerprints(20, 10, uint64(1000+v)))
				for range 3 {
					net.Connect(i, rng.IntN(peers))
				}
				net.Run(net.Now + stay)
				net.End(i)
				net.Run(net.Now + every - stay)
				if net.Now%keep < every {
					publish()
				}
			}
			for end := net.Now + 150*time.Minute; net.Now < end; publish() {
				net.Run(net.Now + keep)
			}
			net.Run(net.Now + time.Minute)
			for i, p := range net.Peers[:peers] {
				if o := p.Overlay; o.Origins() != peers-1 || o.FalseMatches() > 1 || o.Incomplete() || o.Vouched() > 0 {
					t.Errorf("peer %d: %d origins, %.2f false matches, incomplete: %v, vouches for depth %d", i, o.Origins(), o.FalseMatches(), o.Incomplete(), o.Vouched())
				}
			}
		})
	}
}
