package topology

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestRemoved: what is noted of an entry goes with it. The next one at its index is dialled at once, and has not been
// audited.
func TestRemoved(t *testing.T) {
	d := known()
	publish(t, d, 0, 1)
	top := New(Config{Random: 1, MaxLinks: 2, Rand: rand.New(rand.NewPCG(1, 1))}, d)
	chosen := func() bool {
		top.Choose(time.Second, Known{Idle: func(wire.PeerID) bool { return true }})
		top.Acts()
		return top.IsNeighbour(peer)
	}
	before := d.Lookup(peer).Index()
	top.DialFailed(0, peer)
	top.audits[before] = agenda.Pause{}
	if chosen() {
		t.Fatal("it is dialled again at once")
	}
	if err := top.Check(); err != nil {
		t.Error(err)
	}

	d.Remove(before)
	if top.Check() == nil {
		t.Error("the check does not notice what is noted of an entry that is gone")
	}
	top.Removed(before)
	if err := top.Check(); err != nil {
		t.Error(err)
	}
	publish(t, d, time.Second, 1)
	if at := d.Lookup(peer).Index(); at != before {
		t.Fatalf("the new entry is at %d, not at %d", at, before)
	}
	if !chosen() {
		t.Error("the peer of the new entry is not dialled")
	}
	if p, is := top.audits[before]; is {
		t.Errorf("the new entry is not audited before %v", p.End())
	}
}
