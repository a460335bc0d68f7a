package topology

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
)

// TestRangedFollowTheRange: a neighbour drawn from the own range is one only as long as it is in it. None is drawn
// while the range may soon be another.
func TestRangedFollowTheRange(t *testing.T) {
	d := known()
	publish(t, d, 0, 1)
	top := New(Config{Random: 1, Overlap: 1, MaxLinks: 20, Rand: rand.New(rand.NewPCG(1, 1))})
	top.Open(peer)
	inside := true
	step := func(now time.Duration, starting bool) (Kind, bool) {
		top.Choose(now, Known{
			Peers: d, Idle: func(event.PeerID) bool { return true }, Starting: starting,
			Within: func(*directory.Entry) bool { return inside },
		})
		top.Acts()
		if err := top.Check(d); err != nil {
			t.Fatal(err)
		}
		return top.KindOf(peer)
	}
	if kind, is := step(0, true); is && kind == Ranged {
		t.Error("chosen while the range may soon be another")
	}
	if kind, is := step(time.Second, false); !is || kind != Ranged {
		t.Fatalf("it is a neighbour: %v, of kind %v", is, kind)
	}
	inside = false
	if kind, is := step(2*time.Second, false); is && kind == Ranged {
		t.Error("it is out of the range, and still counts for it")
	}
}

// TestRangedCountsThoseWhoChoseUs: links into the own range that others made are enough, except for two of our own.
func TestRangedCountsThoseWhoChoseUs(t *testing.T) {
	d := known()
	publish(t, d, 0, 1)
	top := New(Config{Random: 4, Overlap: 4, MaxLinks: 20, Rand: rand.New(rand.NewPCG(1, 1))})
	top.within = func(*directory.Entry) bool { return true }
	if n := top.rangedSlots(d); n != RangeLinks {
		t.Errorf("%d slots without anybody, want %d", n, RangeLinks)
	}
	top.Open(peer)
	top.add(0, peer, neighbour{kind: Inbound, accepted: true})
	if n := top.rangedSlots(d); n != RangeLinks-1 {
		t.Errorf("%d slots beside one who chose us, want %d", n, RangeLinks-1)
	}
	top.within = func(*directory.Entry) bool { return false }
	if n := top.rangedSlots(d); n != RangeLinks {
		t.Errorf("%d slots beside one of elsewhere, want %d", n, RangeLinks)
	}
}
