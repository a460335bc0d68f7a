package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// inRange returns a peer whose place begins with the bit, after passing over some.
func inRange(bit uint64, skip int) wire.PeerID {
	for i := 0; ; i++ {
		if p := wire.PeerID(fmt.Sprint("link", i)); uint64(p.Place())>>63 == bit {
			if skip--; skip < 0 {
				return p
			}
		}
	}
}

// TestHolder: more of an origin outside of the own range is asked of the link whose range it is in. The origin itself
// is asked only after that has refused.
func TestHolder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const rate = 10_000_000
	w := lone(rng, rate)
	w.d.SetRange(space.Around(1<<63, 1)) // the entries of this test have place 0
	near, other, far := inRange(0, 0), inRange(0, 1), inRange(1, 0)
	if near.Place() > other.Place() { // of the two in its range, the one nearest to the origin is asked
		near, other = other, near
	}
	w.meet(wire.Hello{Up: rate, Down: rate, Session: 1, Depth: 1}, near, other, far)
	e := w.learn(t, far, plain.Of("origin", plain.Keys(rng, 5000)), 1)
	var asked []wire.Record
	for now := time.Duration(0); now < 2*time.Minute; now += 200 * time.Millisecond {
		for _, out := range w.give(now, event.Tick{}) {
			if r, ok := out.(event.Ask); ok {
				asked = append(asked, r.To)
				w.x.FetchFailed(now, r.To.Peer, e.Index())
			}
		}
	}
	if len(asked) <= maxRefusals {
		t.Fatalf("asked %d times", len(asked))
	}
	for i, from := range asked {
		want := wire.Record{Peer: near}
		if i >= maxRefusals {
			want = e.Record()
		}
		if from.Peer != want.Peer || string(from.Envelope) != string(want.Envelope) {
			t.Errorf("question %d goes to %q, want %q", i, from.Peer, want.Peer)
		}
	}
}
