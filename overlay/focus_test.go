package overlay_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/overlaylab"
)

// lines is a network of peers that each hold keys of their own, some time after they met. A few lines are fast.
func lines(t *testing.T, n, keys, fastLines int, rate uint64) *overlaylab.Network {
	t.Helper()
	configs := make([]overlay.Config, n)
	for i := range configs {
		configs[i] = overlay.Config{Up: rate, Down: rate, Cache: shared}
		if i < fastLines {
			configs[i].Up, configs[i].Down = fast, fast
		}
	}
	net, err := overlaylab.New(configs, 7)
	if err != nil {
		t.Fatal(err)
	}
	for i := range configs {
		net.Publish(i, overlaylab.Fingerprints(keys, 0, uint64(i)))
		for j := range i {
			net.Connect(i, j)
		}
	}
	net.Run(net.Now + 50*time.Second)
	return net
}

// TestFocus: where no line carries much of everybody's summary, each peer knows a range around it well, and of the
// others their first parts. It can ask somebody about every range.
func TestFocus(t *testing.T) {
	const n = 24
	net := lines(t, n, 8000, 0, 64_000)
	inside, outside, in, out := 0.0, 0.0, 0, 0
	for i, p := range net.Peers {
		peers := p.Overlay.Peers()
		if len(peers) != n-1 || peers[0].Depth == 0 {
			t.Fatalf("peer %d can ask %d, about ranges as %+v", i, len(peers), peers[0])
		}
		if p.Overlay.Origins() < n*2/3 {
			t.Errorf("peer %d knows %d", i, p.Overlay.Origins())
		}
		own := peers[0]
		own.Place = p.ID.Place()
		for _, d := range p.Overlay.Directory() {
			if own.Range().Contains(d.Peer.Place()) {
				inside, in = inside+d.Rate, in+1
			} else {
				outside, out = outside+d.Rate, out+1
			}
		}
	}
	inside, outside = inside/float64(in), outside/float64(out)
	t.Logf("false-positive rates: %.3f in focus, %.3f beside it", inside, outside)
	if inside > 0.3 || outside < 2.5*inside {
		t.Errorf("false-positive rates of %.3f in focus, %.3f beside it", inside, outside)
	}
}

// TestNoFocus: where two linked peers have fast lines, or collections are small, every line is for all alike.
func TestNoFocus(t *testing.T) {
	for name, net := range map[string]*overlaylab.Network{"fast neighbours": lines(t, 16, 4000, 2, 64_000), "small": lines(t, 16, 100, 0, 64_000)} {
		for i, p := range net.Peers {
			if peers := p.Overlay.Peers(); len(peers) > 0 {
				t.Errorf("%s: peer %d has a focus, of depth %d", name, i, peers[0].Depth)
			}
		}
	}
}

// TestOneBoastIsNoLine: one peer that says its line is fast does not take the others' focus from them.
func TestOneBoastIsNoLine(t *testing.T) {
	net := lines(t, 16, 8000, 1, 64_000)
	for i, p := range net.Peers[1:] {
		if len(p.Overlay.Peers()) == 0 {
			t.Errorf("peer %d has no focus", i+1)
		}
	}
}
