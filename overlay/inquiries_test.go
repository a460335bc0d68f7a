package overlay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// cornered is an overlay with room for one origin and links in a network that is large by their word. So it covers a
// part of it.
func cornered(t *testing.T, links ...PeerID) *Overlay {
	t.Helper()
	o := alone(t, rand.New(rand.NewPCG(2, 3)), Config{MaxOrigins: 1})
	for _, p := range links {
		hears(o, p, Hello{Network: 1000, Records: []Record{{Peer: p, Envelope: []byte(p)}}})
	}
	step(t, o, 0, Tick{})
	if o.region.Depth() == 0 {
		t.Fatal("it covers everybody")
	}
	return o
}

// TestInquiriesForASearch: peers are asked for the contacts that a search wants. It hears of each answer, and of each that
// does not come. What they name are contacts, if their records are their own.
func TestInquiriesForASearch(t *testing.T) {
	o := cornered(t, "a", "b", "c")
	elsewhere := func(name string) PeerID {
		for i := 0; ; i++ {
			if p := PeerID(fmt.Sprint(name, i)); !o.region.Range().Contains(PlaceOf(p)) {
				return p
			}
		}
	}
	named, forged := elsewhere("named"), elsewhere("forged")
	names := Names{Peers: []Named{{Record: Record{Peer: named, Envelope: []byte(named)}}, {Record: Record{Peer: forged, Envelope: []byte(named)}}}}
	for i, c := range []struct {
		in                Input
		asked             int
		said              ContactsNamed
		reported, contact bool
	}{
		{ContactsWanted{Search: 7, Ask: 3}, 3, ContactsNamed{Search: 7, Asked: 3, Awaited: 3}, false, false},
		{PeersNamed{From: "a", Names: names}, 0, ContactsNamed{Search: 7, Awaited: 2}, true, true},
		{PeersSilent{From: "b"}, 0, ContactsNamed{Search: 7, Awaited: 1}, false, true},
		{PeersSilent{From: "b"}, 0, ContactsNamed{}, false, true},
		{PeersSilent{From: "c", Later: true}, 0, ContactsNamed{Search: 7}, false, true},
	} {
		asked, said, reported := 0, ContactsNamed{}, false
		for _, e := range step(t, o, time.Millisecond, c.in) {
			switch e := e.(type) {
			case AskPeers:
				asked++
			case ContactsNamed:
				said = e
			case Report:
				reported = reported || e == Report{Peer: "a", Fault: FaultRecord}
			}
		}
		contact := false
		for _, k := range o.Contacts() {
			if k.Peer == string(forged) {
				t.Errorf("%d: a forged record is that of a contact", i)
			}
			contact = contact || k.Peer == string(named)
		}
		if asked != c.asked || said != c.said || reported != c.reported || contact != c.contact {
			t.Errorf("%d: asks %d, says %+v, reports %v, has the contact %v; want %+v", i, asked, said, reported, contact, c)
		}
	}
	if fails := []int{o.directory.Lookup("b").DialFails(), o.directory.Lookup("c").DialFails()}; !slices.Equal(fails, []int{1, 0}) {
		t.Errorf("%v are blamed, want the one that did not answer alone", fails)
	}
}
