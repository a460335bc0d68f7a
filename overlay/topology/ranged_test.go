package topology

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestRangedFollowTheRange: a neighbour drawn from the own range is one only as long as it is in it. None is drawn
// while the range may soon be another.
func TestRangedFollowTheRange(t *testing.T) {
	d := known()
	publish(t, d, 0, 1)
	top := New(Config{Random: 1, Overlap: 1, MaxLinks: 20, Rand: rand.New(rand.NewPCG(1, 1))}, d)
	inside := true
	step := func(now time.Duration, starting bool) (Kind, bool) {
		top.Choose(now, Known{
			Idle: func(wire.PeerID) bool { return true }, Starting: starting,
			Within: func(*directory.Entry) bool { return inside },
		})
		top.Acts()
		if err := top.Check(); err != nil {
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
	top := New(Config{Random: 4, Overlap: 4, MaxLinks: 20, Rand: rand.New(rand.NewPCG(1, 1))}, d)
	top.within = func(*directory.Entry) bool { return true }
	if n := top.rangedSlots(); n != region.RangeLinks {
		t.Errorf("%d slots without anybody, want %d", n, region.RangeLinks)
	}
	top.add(0, peer, neighbour{kind: Inbound, accepted: true})
	if n := top.rangedSlots(); n != region.RangeLinks-1 {
		t.Errorf("%d slots beside one who chose us, want %d", n, region.RangeLinks-1)
	}
	top.within = func(*directory.Entry) bool { return false }
	if n := top.rangedSlots(); n != region.RangeLinks {
		t.Errorf("%d slots beside one of elsewhere, want %d", n, region.RangeLinks)
	}
}

// TestNeighboursAreBounded: while nothing can be compared nobody gives random neighbours up. Ranges that come and go make
// no more of them than there are slots. Links into the range come on top.
func TestNeighboursAreBounded(t *testing.T) {
	cfg := Config{Overlap: 2, Near: 1, Random: 3, MaxLinks: 8}
	w := newTown(t, 1, cfg, 60, false)
	w.top.Begin(time.Hour) // nothing is compared before
	for i := range 2 {     // they fill the room for those who chose us
		p := wire.PeerID([]string{"a", "b"}[i])
		w.top.directory.Open(p, "")
		w.top.Hear(0, p, wire.Hello{Neighbour: true}, false)
	}
	most := 0
	for round := range 20 {
		half := space.Around(space.Place(uint64(round)<<63), 1)
		w.known.Within = func(e *directory.Entry) bool { return half.Contains(w.d.Place(e)) }
		for range 4 {
			w.second()
		}
		most = max(most, len(w.top.neighbours))
	}
	if want := cfg.MaxLinks + region.RangeLinks; most != want {
		t.Errorf("%d neighbours at most, want %d", most, want)
	}
}
