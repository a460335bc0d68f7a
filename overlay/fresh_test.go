package overlay_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
)

// An origin that changes faster than its line carries a whole summary is known by epochs that are less than three
// changes old.
func TestFastOriginOnASlowLine(t *testing.T) {
	const keys, change, every = 60_000, 40_000, 20 * time.Second
	net, err := overlaylab.New([]overlay.Config{{Up: 38_400, Down: 38_400}, {Up: 38_400, Down: 38_400}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	fps := overlaylab.Fingerprints(keys, 0, 0)
	net.Publish(0, fps)
	net.Connect(0, 1)
	net.Run(3 * time.Minute)
	worst := 1.0
	for k := range 12 {
		fps = overlaylab.Changed(fps, change, uint64(k))
		net.Publish(0, fps)
		net.Run(net.Now + every)
		held, ok := net.Peers[1].Overlay.Held(net.Peers[0].ID)
		if !ok {
			t.Fatal("nothing is held")
		}
		hits := 0
		for i := range 500 {
			if held.Contains(fps[i*len(fps)/500]) {
				hits++
			}
		}
		if k > 3 {
			worst = min(worst, float64(hits)/500)
		}
		if late := k + 2 - int(held.Header().Epoch.Sequence); k > 3 && late > 3 {
			t.Errorf("after %v, %d epochs behind", net.Now, late)
		}
	}
	if worst < 0.2 {
		t.Errorf("at worst %.2f of the keys match", worst)
	}
}

// Time that goes back is the driver's mistake.
func TestTimeGoesBack(t *testing.T) {
	net := build(t, []uint64{fast}, 10, 1)
	o := net.Peers[0].Overlay
	o.Step(time.Second, event.Tick{})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	o.Step(time.Second-1, event.Tick{})
}
