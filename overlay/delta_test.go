package overlay_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
)

// sums adds up what all peers learned.
func sums(net *overlaylab.Network) (deltas, deltaBytes, spared, parts int) {
	for _, p := range net.Peers {
		deltas += p.Deltas
		deltaBytes += p.DeltaBytes
		spared += p.Spared
		parts += p.Pubsub + p.Direct
	}
	return deltas, deltaBytes, spared, parts
}

func faults(net *overlaylab.Network, f event.Fault) (n int) {
	for _, p := range net.Peers {
		n += p.Faults[f]
	}
	return n
}

// Everybody follows a few changes by deltas, which are small, and holds what it held.
func TestDeltas(t *testing.T) {
	const peers, n = 20, 5000
	net := build(t, mixed(peers), n, 11)
	net.Run(40 * time.Second)
	_, _, _, before := sums(net)
	id := net.Peers[0].ID
	fps := overlaylab.Fingerprints(n, n/2, 0)
	for epoch := range 3 {
		fps = overlaylab.Changed(fps, n/300, uint64(epoch))
		net.Publish(0, fps)
		net.Run(net.Now + 15*time.Second)
		for i, p := range net.Peers[1:] {
			held, ok := p.Overlay.Held(id)
			if !ok || held.Header().Epoch.Sequence != uint32(epoch+2) || held.Parts() < held.Plan().Parts() {
				t.Errorf("peer %d does not hold all of epoch %d", i+1, epoch+2)
				continue
			}
			for _, f := range fps {
				if !held.Contains(f) {
					t.Fatalf("peer %d misses a key of epoch %d", i+1, epoch+2)
				}
			}
		}
	}
	deltas, deltaBytes, spared, parts := sums(net)
	if deltas < 3*(peers-1) || deltas > 4*(peers-1) {
		t.Errorf("%d deltas for %d peers and three epochs", deltas, peers-1)
	}
	if parts > before {
		t.Errorf("%d bytes of parts beside the deltas", parts-before)
	}
	if 8*deltaBytes > spared {
		t.Errorf("%d bytes of deltas for %d bytes of parts", deltaBytes, spared)
	}
	for i, p := range net.Peers {
		if p.Fallbacks > 0 {
			t.Errorf("peer %d fell back to parts %d times", i, p.Fallbacks)
		}
		if len(p.Faults) > 0 {
			t.Errorf("peer %d reported %v of honest peers", i, p.Faults)
		}
	}
}

// line is a chain of fast peers 0 - 1 - … - n-1. Only the first has many keys.
func line(t *testing.T, n int) *overlaylab.Network {
	t.Helper()
	net, err := overlaylab.New(make([]overlay.Config, n), 21)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		net.Publish(i, overlaylab.Fingerprints(3000, 0, uint64(i)))
	}
	return net
}

// sequence is the epoch that a peer holds of peer 0, 0 if none; whole says whether it holds all of it.
func sequence(net *overlaylab.Network, i int) (seq uint32, whole bool) {
	held, ok := net.Peers[i].Overlay.Held(net.Peers[0].ID)
	if !ok {
		return 0, false
	}
	return held.Header().Epoch.Sequence, held.Parts() == held.Plan().Parts()
}

// A relay that never held the earlier epoch brings the new one as parts to whoever can hear of it nowhere else.
func TestRelayWithoutBase(t *testing.T) {
	net := line(t, 3)
	net.Connect(0, 2)
	net.Run(10 * time.Second)
	net.Disconnect(0, 2) // 2 holds epoch 1
	fps := overlaylab.Changed(overlaylab.Fingerprints(3000, 0, 0), 10, 1)
	net.Publish(0, fps)
	keepApart(net, 0, 2)
	net.Connect(0, 1) // 1 gets epoch 2 only
	net.Connect(1, 2)
	net.Run(40 * time.Second)
	if seq, whole := sequence(net, 2); seq != 2 || !whole {
		t.Errorf("behind the relay epoch %d is held, whole: %v", seq, whole)
	}
	if d := net.Peers[2].Deltas; d != 0 {
		t.Errorf("%d deltas from a relay without a base", d)
	}
}

// keepApart closes a connection whenever it comes to be.
func keepApart(net *overlaylab.Network, a, b int) {
	net.Trace = func(_ time.Duration, _ int, e event.Effect) {
		if _, ok := e.(event.Wake); ok {
			net.Disconnect(a, b)
		}
	}
}

// A peer that lags by two epochs is brought to the newest by one delta.
func TestDeltaOverTwoEpochs(t *testing.T) {
	net := line(t, 2)
	net.Connect(0, 1)
	net.Run(10 * time.Second)
	net.Disconnect(0, 1)
	fps := overlaylab.Fingerprints(3000, 0, 0)
	for i := range 2 {
		fps = overlaylab.Changed(fps, 10, uint64(i))
		net.Publish(0, fps)
	}
	net.Connect(0, 1)
	net.Run(20 * time.Second)
	if seq, whole := sequence(net, 1); seq != 3 || !whole || net.Peers[1].Deltas != 1 {
		t.Errorf("epoch %d, whole: %v, by %d deltas", seq, whole, net.Peers[1].Deltas)
	}
}

// A new epoch of another shape is coded given the one before, too.
func TestDeltaToAnotherShape(t *testing.T) {
	net := line(t, 2)
	net.Connect(0, 1)
	net.Run(10 * time.Second)
	net.Publish(0, overlaylab.Fingerprints(6000, 0, 0))
	net.Run(40 * time.Second)
	if seq, whole := sequence(net, 1); seq != 2 || !whole || net.Peers[1].Deltas != 1 || net.Peers[1].Fallbacks != 0 || len(net.Peers[1].Faults) > 0 {
		t.Errorf("epoch %d, whole: %v, by %d deltas, %d fallbacks, faults %v", seq, whole, net.Peers[1].Deltas, net.Peers[1].Fallbacks, net.Peers[1].Faults)
	}
}

// An epoch that comes while another is still under way loses nothing: at any time the rate is no worse than before.
func TestEpochChangeInTheMiddle(t *testing.T) {
	const n = 30000
	net := build(t, []uint64{medium, slow, medium, slow}, n, 13)
	id, fps := net.Peers[0].ID, overlaylab.Fingerprints(n, n/2, 0)
	rate, last := 1.0, uint32(0)
	for step := range 60 {
		if step%10 == 9 && step < 50 {
			fps = overlaylab.Changed(fps, n/500, uint64(step))
			net.Publish(0, fps)
		}
		net.Run(net.Now + time.Second)
		held, ok := net.Peers[3].Overlay.Held(id)
		if !ok {
			continue
		}
		if got := held.FalsePositiveRate(); got > 1.05*rate {
			t.Fatalf("after %v the rate is %v, was %v", net.Now, got, rate)
		}
		rate, last = min(rate, held.FalsePositiveRate()), held.Header().Epoch.Sequence
	}
	if rate > 0.01 || last != 6 {
		t.Errorf("at the end the rate is %v, of epoch %d", rate, last)
	}
	if net.Peers[3].Deltas < 2 {
		t.Errorf("%d deltas", net.Peers[3].Deltas)
	}
}

// churn changes every collection a little, again and again.
func churn(t *testing.T, net *overlaylab.Network, n, rounds int) {
	t.Helper()
	for round := range rounds {
		for i := range net.Peers {
			fps := overlaylab.Changed(overlaylab.Fingerprints(n, n/2, uint64(i)), n/200*(round+1), uint64(i))
			net.Publish(i, fps)
			net.Run(net.Now + time.Second)
		}
	}
}
