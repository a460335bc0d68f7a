package region

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

func randomKeys(seed uint64, n int) []summary.Fingerprint {
	return plain.Keys(rand.New(rand.NewPCG(seed, 9)), n)
}

// TestVisitorsAreBounded: of a crowd of visitors few are remembered, and their bytes count as memory. They take no more
// than their share of a small memory.
func TestVisitorsAreBounded(t *testing.T) {
	o := acquainted(t, 1)
	for i := range 2 * maxVisitors {
		s := sign(wire.PeerID(fmt.Sprint("crowd", i)), randomKeys(5, 100))
		run, err := s.Stream.Run(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		o.introduce(0, s.ID, wire.Parts{Envelope: s.Envelope, Record: s.Record, Run: run})
		o.Visit(0, s.ID)
	}
	if n := len(o.meeting.visitors); n != maxVisitors {
		t.Errorf("%d visitors are remembered, at most %d", n, maxVisitors)
	}
	if bytes := o.VisitorBytes(); bytes < 800*maxVisitors || bytes > 4000*maxVisitors {
		t.Errorf("%d visitors are counted as %d bytes", maxVisitors, bytes)
	}
	o.cfg.Memory = 60_000
	o.Visit(0, "crowd0")
	if bytes := float64(o.VisitorBytes()); bytes > 60_000./8 || bytes < 60_000./16 {
		t.Errorf("visitors take %.0f bytes of 60,000", bytes)
	}
}

// TestLookup asks peers ever nearer to the meeting place, each once, and ends there.
func TestLookup(t *testing.T) {
	o := acquainted(t, 8)
	o.depth = 1
	o.contacts.SetDepth(1)
	now := time.Minute
	m := &o.meeting
	to, ok := o.meet(now, nil)
	if !ok {
		t.Fatal("nobody is asked, though one is known")
	}
	place, last := m.place, m.place.Distance(to.Peer.Place())
	if last >= place.Distance(o.place) {
		t.Fatalf("%q is no nearer than we are", to.Peer)
	}
	for hop := 1; ; hop++ {
		o.awaited[to.Peer] = inquiry{since: o.now}
		if _, again := o.meet(now, nil); again {
			t.Fatal("another is asked before the answer has come")
		}
		var names []wire.Named
		for i := range 20 {
			p := wire.PeerID(fmt.Sprint("named", hop, i))
			names = append(names, wire.Named{Record: wire.Record{Peer: p, Envelope: []byte(p)}})
		}
		names = append(names, wire.Named{Record: wire.Record{Peer: "forged", Envelope: []byte("not its own")}})
		step(t, o, now, event.Answered{Ask: event.Ask{To: wire.Record{Peer: to.Peer}}, Answer: wire.Names{Peers: names[:16]}})
		if to, ok = o.meet(now, nil); !ok {
			if hop > mostHops {
				t.Errorf("%d peers were asked", hop)
			}
			break
		}
		if d := place.Distance(to.Peer.Place()); d >= last {
			t.Errorf("%q is no nearer", to.Peer)
		} else {
			last = d
		}
	}
	if m.place != 0 || m.lookups != 1 || m.next <= now {
		t.Errorf("after the lookup: %+v", m)
	}
	ended := now
	for range 4 * firstLookups {
		wait := m.next - ended
		if few := m.lookups < firstLookups; few != (wait == agenda.Attempt) || wait > lastRound {
			t.Errorf("after %d lookups the next comes in %v", m.lookups, wait)
		}
		for now = m.next; ; {
			to, ok := o.meet(now, nil)
			if !ok {
				break
			}
			o.awaited[to.Peer] = inquiry{since: o.now}
			step(t, o, now, event.Answered{Ask: event.Ask{To: to}})
		}
		ended = now
	}
	if wait := m.next - ended; wait != lastRound {
		t.Errorf("after %d lookups the next comes in %v, want %v", m.lookups, wait, lastRound)
	}
	for i, fps := range [][]summary.Fingerprint{randomKeys(1, 300), randomKeys(3, 300)} {
		own := sign("self", fps)
		if i > 0 {
			m.place = 1 // the first lookup is under way
		}
		h := own.Stream.Header()
		h.Epoch.Sequence = uint32(i) + 2
		next := plain.New("self", fps, h)
		step(t, o, now, event.Published{Envelope: own.Envelope, Record: own.Record, Stream: next.Stream})
		if m.place != 0 || m.lookups != 0 || m.next > now+agenda.Attempt {
			t.Errorf("with another collection the lookups do not begin again: %+v", m)
		}
	}
}

// TestMeetingAsksNobodyTwice: a lookup waits for what the nearest peer answers to another question, and goes on without
// it when that takes too long.
func TestMeetingAsksNobodyTwice(t *testing.T) {
	for _, answers := range []bool{true, false} {
		o := acquainted(t, 3)
		o.depth = 1
		first, ok := o.meet(0, nil)
		if !ok {
			t.Fatal("nobody is asked about the meeting place")
		}
		m := &o.meeting
		m.place, m.last = 0, "" // as if it had not begun
		o.ask(first.Peer)
		if to, ok := o.meet(0, nil); ok {
			t.Errorf("%q is asked while the answer of %q is awaited", to.Peer, first.Peer)
		}
		now := promptTime
		if answers {
			step(t, o, time.Millisecond, event.Answered{Ask: event.Ask{To: first}, Answer: wire.Names{}})
			now = time.Millisecond
		}
		o.now = now
		to, ok := o.meet(now, nil)
		for range 3 { // it takes note first that the answer is late
			if !ok {
				to, ok = o.meet(now, nil)
			}
		}
		if ok && o.awaits(to.Peer) || answers != (to.Peer == first.Peer) {
			t.Errorf("answers %v: %q is asked then, and was %q", answers, to.Peer, first.Peer)
		}
	}
}

// TestLookupOpensFew: of an answer at a meeting place a lookup takes the first few peers that are nearer, and opens no
// record of the others.
func TestLookupOpensFew(t *testing.T) {
	o := acquainted(t, 8)
	o.depth = 1
	to, ok := o.meet(time.Minute, nil)
	if !ok {
		t.Fatal("nobody is asked, though one is known")
	}
	opened := 0
	o.cfg.OpenRecord = func(b []byte) (wire.PeerID, error) { opened++; return wire.PeerID(b), nil }
	m := &o.meeting
	o.meetAnswered(to.Peer)
	for i, nearer := 0, 0; nearer < 2*meetNamed; i++ {
		p := wire.PeerID(fmt.Sprint("named", i))
		if m.place.Distance(p.Place()) < m.reached {
			nearer++
			o.Nearer(to.Peer, wire.Record{Peer: p, Envelope: []byte(p)})
		}
	}
	if opened != meetNamed || len(m.named) != meetNamed {
		t.Errorf("%d records were opened and %d peers taken, want %d", opened, len(m.named), meetNamed)
	}
}
