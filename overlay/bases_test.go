package overlay_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestBasesFail lets peers with similar collections learn each other's summaries, while asks name no base, or holders
// spoil what they code. All honest peers still learn all parts of all summaries. If a tenth
// of the bases are dropped, bytes are at most 1.2 times as many.
func TestBasesFail(t *testing.T) {
	const peers = 16
	usual, soon := learned(t, peers, 0, 0)
	for _, c := range []struct {
		name    string
		dropped float64 // share of asks whose base is taken out on the way
		liars   int     // peers that spoil each relative run
		bytes   float64 // most bytes sent, relative to a network without failures
	}{
		{"a tenth dropped", 0.1, 0, 1.2},
		{"all withheld", 1, 0, 3},
		{"a quarter of the peers lie", 0, peers / 4, 2},
	} {
		bytes, took := learned(t, peers, c.dropped, c.liars)
		t.Logf("%s: %d bytes, %.2f times as many; all is known after %v, without failures after %v",
			c.name, bytes, float64(bytes)/float64(usual), took, soon)
		if float64(bytes) > c.bytes*float64(usual) {
			t.Errorf("%s: %d bytes, %d without failures", c.name, bytes, usual)
		}
		if took > soon+10*time.Second {
			t.Errorf("%s: all is known after %v, without failures after %v", c.name, took, soon)
		}
	}
}

// learned runs a network until all honest peers hold all summaries whole, for a minute at most. It returns the bytes of
// all messages and the time that this took. A peer's collection has 4,000 keys, and all peers hold 3,400 of them.
func learned(t *testing.T, peers int, dropped float64, liars int) (bytes int, took time.Duration) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	net, err := overlaylab.New(slices.Repeat([]overlay.Config{{Up: fast, Down: fast}}, peers), 3)
	if err != nil {
		t.Fatal(err)
	}
	relative := 0
	net.Base = func(g wire.Given) wire.Given {
		if rng.Float64() < dropped {
			return wire.Given{}
		}
		relative++
		return g
	}
	net.Sent = func(_ time.Duration, _, _, n int) { bytes += n }
	for i, p := range net.Peers {
		p.Liar = i > 0 && i <= liars
		net.Publish(i, overlaylab.Fingerprints(4000, 3400, uint64(i)))
		for range min(i, 2) {
			net.Connect(i, rng.IntN(i))
		}
	}
	for !whole(net) && net.Now < time.Minute {
		net.Run(net.Now + time.Second)
	}
	if !whole(net) {
		t.Errorf("dropped %v, %d liars: not all is known after %v", dropped, liars, net.Now)
	}
	if (relative == 0) != (dropped == 1) {
		t.Errorf("dropped %v: %d asks with a base", dropped, relative)
	}
	if n := faults(net, event.FaultDelta); (n > 0) != (liars > 0) {
		t.Errorf("%d liars: %d reports of relative runs that do not fit", liars, n)
	}
	return bytes, net.Now
}

// whole reports whether each honest peer holds all parts of all summaries.
func whole(net *overlaylab.Network) bool {
	for i, p := range net.Peers {
		for j, of := range net.Peers {
			held, ok := p.Overlay.Held(of.ID)
			if i != j && !p.Liar && (!ok || held.Parts() < held.Plan().Parts()) {
				return false
			}
		}
	}
	return true
}
