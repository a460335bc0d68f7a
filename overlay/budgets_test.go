package overlay_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/overlaylab"
)

// TestBudgetsTold: the budgets of a link are those of its slower end. What is sent is charged to it, and after a pause
// it is whole.
func TestBudgetsTold(t *testing.T) {
	const share = 0.5
	net, err := overlaylab.New([]overlay.Config{{Share: share, Up: 1_000_000, Down: 4_000_000}, {Share: share, Up: 2_000_000, Down: 800_000}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	sent := map[int]uint64{}
	net.Sent = func(_ time.Duration, from, _, bytes int) { sent[from] += uint64(bytes) }
	net.Connect(0, 1)
	net.Publish(0, overlaylab.Fingerprints(50_000, 0, 1))
	most := 0.0
	for now := time.Duration(0); now < time.Minute; now += 100 * time.Millisecond {
		net.Run(now)
		b := net.Peers[0].Overlay.Budgets(net.Now)
		most = max(most, b.Links[0].Spent)
	}
	net.Run(time.Minute)
	b, there := net.Peers[0].Overlay.Budgets(net.Now), net.Peers[1].Overlay.Budgets(net.Now)
	line := func(rate float64) float64 { return share * rate / 8 }
	if b.LineOut != line(1_000_000) || b.LineIn != line(4_000_000) || len(b.Links) != 1 {
		t.Fatalf("%+v", b)
	}
	link := b.Links[0]
	if link.Peer != net.Peers[1].ID || link.Out != line(800_000) || link.In != line(2_000_000) {
		t.Errorf("%+v", link)
	}
	if most < 0.5 || most > 1.1 {
		t.Errorf("at most %.3f of a burst was spent, 80 kB went at 50 kB/s", most)
	}
	if later := net.Peers[0].Overlay.Budgets(net.Now + time.Minute); math.Abs(later.Links[0].Spent) > 1e-9 {
		t.Errorf("after a pause, %.3f is spent", later.Links[0].Spent)
	}
	if b.Sent != sent[0] || there.Sent != sent[1] {
		t.Errorf("charged for %d and %d bytes, %d and %d were sent", b.Sent, there.Sent, sent[0], sent[1])
	}
	if there.Received == 0 || there.Received > b.Sent || b.Received > there.Sent {
		t.Errorf("%+v, %+v", b, there)
	}
}
