package region

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// aware returns a region of depth 6 that knows the records of n others.
func aware(t testing.TB, n int) *world {
	w := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	for i := range n {
		id, link := wire.PeerID(fmt.Sprint("peer ", i)), wire.PeerID(fmt.Sprint("link ", i/32))
		w.directory.Open(link, "")
		w.exchange.Open(0, link, false)
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
	if first(); &w.spare.list[0] != before {
		t.Error("nothing changed, but all entries were looked at")
	}
	for range deniedMost {
		w.contacts.Denied(exchange.PlaceOf(p), string(p))
	}
	q := first()
	if q == p {
		t.Error("a peer that denied is still a spare contact")
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

// TestEmptyRangesFirst: four inquiries in a row ask for contacts in empty ranges alone, the next ones for second contacts
// too.
func TestEmptyRangesFirst(t *testing.T) {
	w := aware(t, 0)
	w.depth = 3
	w.contacts.SetDepth(3)
	own := w.place >> 61
	for at := range space.Place(6) {
		if at != own {
			w.contacts.Add(Contact{Peer: fmt.Sprint("peer ", at), Place: at<<61 | 1, Depth: 3})
		}
	}
	empty := 8 - 1 - w.contacts.Len()
	for round := 1; round <= 6; round++ {
		want := empty
		if round > 4 {
			want += ContactsEach
		}
		if lacks := w.lacks(); lacks.Len() != want {
			t.Errorf("inquiry %d asks for %d ranges, want %d", round, lacks.Len(), want)
		}
	}
	w.contacts.SetDepth(0) // the contacts have made-up places
}

// BenchmarkContacts is what a search pays to list the contacts of a peer that knows 1,000 others.
func BenchmarkContacts(b *testing.B) {
	w := aware(b, 1000)
	for b.Loop() {
		if len(w.Contacts()) < 60 {
			b.Fatal("few contacts")
		}
	}
}
