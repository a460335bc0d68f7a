package region

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
)

// aware returns a region of depth 6 that knows the records of n others.
func aware(t testing.TB, n int) *world {
	w := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	for i := range n {
		id, link := wire.PeerID(fmt.Sprint("peer ", i)), wire.PeerID(fmt.Sprint("link ", i/32))
		w.directory.Open(link, "")
		w.directory.LearnRecord(0, link, wire.Record{Peer: id, Envelope: []byte(id)})
	}
	w.pass()
	w.depth = 6
	w.contacts.SetDepth(6)
	return w
}

// TestSpareRemembered: spare contacts are looked for again after each change that they depend on, and only then.
func TestSpareRemembered(t *testing.T) {
	w := aware(t, 300)
	first := func() wire.PeerID {
		w.Contacts()
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
		return wire.PeerID(w.spare.list[0].Peer)
	}
	p := first()
	before := &w.spare.list[0]
	part := w.spare.list[0].Range()
	if first(); &w.spare.list[0] != before {
		t.Error("nothing changed, but all entries were looked at")
	}
	for range beyondChance {
		w.contacts.Denied(p.Place(), string(p))
	}
	q := first()
	if q == p {
		t.Error("a peer that denied is still a spare contact")
	}
	if got := w.spare.list[0].Range(); got != part {
		t.Errorf("the peer that denied has no other in its place: the next is for %v, want %v", got, part)
	}
	w.directory.DialFailed(q)
	if first() == q {
		t.Error("a peer that cannot be reached is still a spare contact")
	}
	if w.contacts.SetDepth(5); w.spareDepth() != 7 {
		t.Fatal(w.spareDepth())
	}
	if w.depth = 5; first() == "" || len(w.Contacts()) > 64 {
		t.Errorf("%d contacts in parts of depth 6", len(w.Contacts()))
	}
}
