package overlay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/summary"
)

func randomKeys(seed uint64, n int) []summary.Fingerprint {
	rng := rand.New(rand.NewPCG(seed, 9))
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return fps
}

// visit has a peer ask at a meeting place, with its summary, and returns what it is answered.
func visit(t *testing.T, o *Overlay, now time.Duration, from PeerID, fps []summary.Fingerprint, place coverage.Place) Names {
	t.Helper()
	s := sign(t, from, fps)
	run, err := s.stream.Run(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	q := Inquiry{Depth: 7, Meet: place, Own: []Introduction{{Envelope: s.envelope, Record: s.record, Run: run}}}
	for _, e := range o.Step(now, PeersAsked{From: from, Inquiry: q}) {
		if a, ok := e.(AnswerPeers); ok {
			return a.Names
		}
	}
	t.Fatal("no answer")
	return Names{}
}

// TestVisitorsMeet: a peer that asks at a meeting place hears of an earlier visitor that is like it, and of no other.
// The peer asked need not keep that visitor. After a while it names none.
func TestVisitorsMeet(t *testing.T) {
	o := acquainted(t, 1)
	const place = 1 << 60
	interest := randomKeys(5, 100)
	visit(t, o, time.Second, "early", interest, place)
	visit(t, o, time.Second, "other", randomKeys(6, 100), place)
	for _, p := range []PeerID{"early", "other"} {
		o.directory.Remove(o.directory.Lookup(p).Index())
	}
	o.pass()
	names := visit(t, o, 2*time.Second, "late", interest, place)
	if len(names.Similar) != 1 || string(names.Similar[0].Record) != "early" {
		t.Errorf("introduced to %+v, want the one alike", names.Similar)
	}
	if names := visit(t, o, 2*time.Second, "late", interest, 0); len(names.Similar) != 0 {
		t.Errorf("who looks up no place is introduced to visitors: %+v", names.Similar)
	}
	o.directory.Remove(o.directory.Lookup("late").Index())
	o.pass()
	if names := visit(t, o, 2*time.Second+visitFor, "later", interest, place); len(names.Similar) != 0 {
		t.Errorf("visitors are remembered for ever: %+v", names.Similar)
	}
	for i := range 2 * maxVisitors {
		visit(t, o, time.Hour+time.Duration(i)*time.Second, PeerID(fmt.Sprint("crowd", i)), interest, place)
	}
	if n := len(o.scope.meeting.visitors); n > maxVisitors {
		t.Errorf("%d visitors are remembered, at most %d", n, maxVisitors)
	}
}

// TestLookup asks peers ever nearer to the meeting place, each once, and ends there.
func TestLookup(t *testing.T) {
	o := acquainted(t, 8)
	o.scope.depth = 1
	o.scope.contacts.SetDepth(1)
	now := time.Minute
	m := &o.scope.meeting
	to, ok := o.meet(now, nil)
	if !ok {
		t.Fatal("nobody is asked, though one is known")
	}
	place, last := m.place, m.place.Distance(PlaceOf(to.Peer))
	if last >= place.Distance(o.scope.place) {
		t.Fatalf("%q is no nearer than we are", to.Peer)
	}
	for hop := 1; ; hop++ {
		o.scope.asked[to.Peer] = true
		if _, again := o.meet(now, nil); again {
			t.Fatal("another is asked before the answer has come")
		}
		var names []Named
		for i := range 20 {
			p := PeerID(fmt.Sprint("named", hop, i))
			names = append(names, Named{Record: Record{Peer: p, Envelope: []byte(p)}})
		}
		names = append(names, Named{Record: Record{Peer: "forged", Envelope: []byte("not its own")}})
		o.Step(now, PeersNamed{From: to.Peer, Names: Names{Peers: names[:16]}})
		if to, ok = o.meet(now, nil); !ok {
			if hop > mostHops {
				t.Errorf("%d peers were asked", hop)
			}
			break
		}
		if d := place.Distance(PlaceOf(to.Peer)); d >= last {
			t.Errorf("%q is no nearer", to.Peer)
		} else {
			last = d
		}
	}
	if m.place != 0 || m.lookups != 1 || m.next <= now {
		t.Errorf("after the lookup: %+v", m)
	}
	for range 2 * mostLookups {
		for now = m.next; ; {
			to, ok := o.meet(now, nil)
			if !ok {
				break
			}
			o.scope.asked[to.Peer] = true
			o.Step(now, PeersSilent{From: to.Peer})
		}
	}
	if m.lookups > mostLookups {
		t.Errorf("%d lookups", m.lookups)
	}
}

// TestLookupOpensFew: of an answer at a meeting place a lookup takes the first few peers that are nearer, and opens no
// record of the others.
func TestLookupOpensFew(t *testing.T) {
	o := acquainted(t, 8)
	o.scope.depth = 1
	to, ok := o.meet(time.Minute, nil)
	if !ok {
		t.Fatal("nobody is asked, though one is known")
	}
	opened := 0
	o.cfg.OpenRecord = func(b []byte) (PeerID, error) { opened++; return PeerID(b), nil }
	m := &o.scope.meeting
	o.meetAnswered(to.Peer)
	for i, nearer := 0, 0; nearer < 2*meetNamed; i++ {
		p := PeerID(fmt.Sprint("named", i))
		if m.place.Distance(PlaceOf(p)) < m.reached {
			nearer++
			o.meetNamed(to.Peer, Record{Peer: p, Envelope: []byte(p)})
		}
	}
	if opened != meetNamed || len(m.named) != meetNamed {
		t.Errorf("%d records were opened and %d peers taken, want %d", opened, len(m.named), meetNamed)
	}
}
