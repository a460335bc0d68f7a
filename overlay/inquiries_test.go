package overlay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// answered is a peer's answer to an inquiry.
func answered(p wire.PeerID, a wire.Message, here bool) event.Answered {
	return event.Answered{Ask: event.Ask{To: wire.Record{Peer: p}, Question: wire.Inquiry{}}, Answer: a, Here: here}
}

// cornered is an overlay with room for one origin and links in a network that is large by their word. So it covers a
// part of it.
func cornered(t *testing.T, links ...wire.PeerID) *Overlay {
	t.Helper()
	o := alone(t, rand.New(rand.NewPCG(2, 3)), Config{MaxOrigins: 1})
	for _, p := range links {
		hears(o, p, wire.Hello{Network: 1000, Records: []wire.Record{{Peer: p, Envelope: []byte(p)}}})
	}
	step(t, o, 0, event.Tick{})
	if o.region.Depth() == 0 {
		t.Fatal("it covers everybody")
	}
	return o
}

// TestInquiriesForASearch: peers are asked for the contacts that a search wants. It hears of each answer, and of each that
// does not come. What they name are contacts, if their records are their own.
func TestInquiriesForASearch(t *testing.T) {
	o := cornered(t, "a", "b", "c")
	elsewhere := func(name string) wire.PeerID {
		for i := 0; ; i++ {
			if p := wire.PeerID(fmt.Sprint(name, i)); !o.region.Range().Contains(p.Place()) {
				return p
			}
		}
	}
	named, forged := elsewhere("named"), elsewhere("forged")
	names := wire.Names{Peers: []wire.Named{{Record: wire.Record{Peer: named, Envelope: []byte(named)}}, {Record: wire.Record{Peer: forged, Envelope: []byte(named)}}}}
	for i, c := range []struct {
		in                event.Input
		asked             int
		said              event.ContactsNamed
		reported, contact bool
	}{
		{event.ContactsWanted{Search: 7, Ask: 3}, 3, event.ContactsNamed{Search: 7, Asked: 3, Awaited: 3}, false, false},
		{answered("a", names, false), 0, event.ContactsNamed{Search: 7, Awaited: 2}, true, true},
		{answered("b", nil, false), 0, event.ContactsNamed{Search: 7, Awaited: 1}, false, true},
		{answered("b", nil, false), 0, event.ContactsNamed{}, false, true},
		{answered("c", nil, true), 0, event.ContactsNamed{Search: 7}, false, true},
	} {
		asked, said, reported := 0, event.ContactsNamed{}, false
		for _, e := range step(t, o, time.Millisecond, c.in) {
			switch e := e.(type) {
			case event.Ask:
				asked++
			case event.ContactsNamed:
				said = e
			case event.Report:
				reported = reported || e == event.Report{Peer: "a", Fault: event.FaultRecord}
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
