package region

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestReckoned: an own count of a few places bends to what most links say, but no majority of liars can halve it.
func TestReckoned(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	o.size = 1000
	if got := o.reckoned(); got != 1000 {
		t.Errorf("without links %v", got)
	}
	says := func(p wire.PeerID, network int) {
		hears(t, o, p, wire.Hello{Network: network})
	}
	for i := range 3 {
		says(wire.PeerID(fmt.Sprint("link", i)), 800)
	}
	for _, c := range []struct{ size, want float64 }{{1000, 900}, {850, 850}, {700, 800}, {1600, 1600}, {4000, 4000}} {
		o.size = c.size
		if got := o.reckoned(); got != c.want {
			t.Errorf("own count %v, links say 800: reckoned %v, want %v", c.size, got, c.want)
		}
	}
	o.size = 800
	for i, said := range []int{410, 410, 410, 1600, 1600, 1600} {
		if i == 3 {
			for j := range 3 {
				step(t, o, 0, event.LinkClosed{Peer: wire.PeerID(fmt.Sprint("liar", j))})
			}
		}
		says(wire.PeerID(fmt.Sprint("liar", i)), said)
		if got := o.reckoned(); got != 800 {
			t.Errorf("%d of %d links lie %d: reckoned %v, want 800", i%3+1, i%3+4, said, got)
		}
	}
}

// TestEmptyRangeHoldsUpNoSecondContact: inquiries ask for contacts in empty ranges and for a few second contacts of
// others.
func TestEmptyRangeHoldsUpNoSecondContact(t *testing.T) {
	const depth = 3
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	o.depth = depth
	o.contacts.SetDepth(depth)
	none := o.contacts.Lacks(1, depth)
	empty := none.Nth(0)
	for i := 0; none.Len() > 1; i++ {
		p := fmt.Sprint("contact", i)
		place := space.Place(wire.OriginTag(p))
		if !empty.Contains(place) && none.Has(place) {
			o.contacts.Add(Contact{Peer: p, Place: place, Depth: depth})
			none = o.contacts.Lacks(1, depth)
		}
	}
	asked := map[space.Range]bool{}
	for range 100 {
		got := o.lacks()
		if !got.Has(empty.First()) || got.Len() != 1+ContactsEach {
			t.Fatalf("asked for %v, want the empty range and %d more", got, ContactsEach)
		}
		for r := range got.All() {
			asked[r] = true
		}
	}
	if want := 1<<depth - 1; len(asked) != want {
		t.Errorf("a contact is asked for in %d ranges, want %d", len(asked), want)
	}
	o.contacts.Add(Contact{Peer: "last", Place: empty.First(), Depth: depth})
	if lacks := o.lacks(); lacks.Len() != ContactsEach {
		t.Errorf("%d ranges lack a second contact at a time, want %d", lacks.Len(), ContactsEach)
	}
	o.contacts.SetDepth(0) // the last has a made-up place
}

// TestSecondContactsAreNoNews: a peer goes on asking for its like and for its range because of the first contact of a
// range, or of a peer of its own range, and not because of a second contact.
func TestSecondContactsAreNoNews(t *testing.T) {
	const depth = 3
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	o.depth = depth
	o.contacts.SetDepth(depth)
	o.directory.SetRange(o.Range())
	inBucket := map[space.Range]int{}
	for i := range 60 {
		r := wire.Record{Peer: wire.PeerID(fmt.Sprint("peer", i))}
		r.Envelope = []byte(r.Peer)
		bucket := space.Around(r.Peer.Place(), depth)
		own := bucket == o.Range()
		inBucket[bucket]++
		for range 20 {
			o.gossip.Asked()
		}
		o.awaited["friend"], o.seeker.vain = inquiry{since: o.now}, 1
		o.onNames(0, "friend", wire.Names{Peers: []wire.Named{{Record: r, Depth: depth}}})
		if news := o.gossip.Asked() < time.Minute; news != (own || inBucket[bucket] == 1) {
			t.Errorf("%q, number %d of range %v (ours %v): news %v", r.Peer, inBucket[bucket], bucket, own, news)
		}
		if brought := o.seeker.vain == 0; brought != own {
			t.Errorf("%q of range %v (ours %v): brought somebody: %v", r.Peer, bucket, own, brought)
		}
	}
}
