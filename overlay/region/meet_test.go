package region

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

func randomKeys(seed uint64, n int) []summary.Fingerprint {
	return plain.Keys(rand.New(rand.NewPCG(seed, 9)), n)
}

// visit has a peer ask at a meeting place, with its summary, and returns what it is answered.
func visit(t *testing.T, o *world, now time.Duration, from wire.PeerID, fps []summary.Fingerprint, place space.Place) wire.Names {
	t.Helper()
	return visitOf(t, o, now, sign(from, fps), 1, place)
}

// visitOf is visit of the origin of a summary, with the given number of parts.
func visitOf(t *testing.T, o *world, now time.Duration, s plain.Origin, parts int, place space.Place) wire.Names {
	t.Helper()
	from := wire.PeerID(s.Record)
	run, err := s.Stream.Run(0, parts)
	if err != nil {
		t.Fatal(err)
	}
	q := wire.Inquiry{Depth: 7, Meet: place, Own: []wire.Parts{{Envelope: s.Envelope, Record: s.Record, Run: run}}}
	for _, e := range step(t, o, now, event.Asked{From: from, Question: q}) {
		if a, ok := e.(event.Answer); ok {
			return a.Answer.(wire.Names)
		}
	}
	t.Fatal("no answer")
	return wire.Names{}
}

// TestVisitorsMeet: a peer that asks at a meeting place hears of an earlier visitor that is like it, and of no other.
// The peer asked need not keep that visitor. Once their summaries are old it names none.
func TestVisitorsMeet(t *testing.T) {
	o := acquainted(t, 1)
	const place = 1 << 60
	interest := randomKeys(5, 100)
	visit(t, o, time.Second, "early", interest, place)
	visit(t, o, time.Second, "other", randomKeys(6, 100), place)
	for _, p := range []wire.PeerID{"early", "other"} {
		o.directory.Remove(o.directory.Lookup(p).Index())
	}
	o.pass()
	names := visit(t, o, 2*time.Second, "late", interest, place)
	if len(names.Introductions) != 1 || string(names.Introductions[0].Record) != "early" {
		t.Errorf("introduced to %+v, want the one alike", names.Introductions)
	}
	if names := visit(t, o, 2*time.Second, "late", interest, 0); len(names.Introductions) != 0 {
		t.Errorf("who looks up no place is introduced to visitors: %+v", names.Introductions)
	}
	o.directory.Remove(o.directory.Lookup("late").Index())
	o.pass()
	if names := visit(t, o, 2*time.Second+2*time.Hour, "later", interest, place); len(names.Introductions) != 0 {
		t.Errorf("visitors are remembered for ever: %+v", names.Introductions)
	}
	for i := range 2 * maxVisitors {
		visit(t, o, 3*time.Hour+time.Duration(i)*time.Second, wire.PeerID(fmt.Sprint("crowd", i)), interest, place)
	}
	if n := len(o.meeting.visitors); n > maxVisitors {
		t.Errorf("%d visitors are remembered, at most %d", n, maxVisitors)
	}
	taken := o.directory.Memory()
	o.directory.Beside(0)
	if visitors := taken - o.directory.Memory(); visitors < 800*maxVisitors || visitors > 4000*maxVisitors {
		t.Errorf("%d visitors are counted as %d bytes", maxVisitors, visitors)
	}
}

// TestHugeSample: a summary with a first part that makes an answer too long is not passed on. Others alike are.
func TestHugeSample(t *testing.T) {
	o := acquainted(t, 1)
	interest := randomKeys(5, 20_000)
	visit(t, o, time.Second, "early", interest, 0)
	h := summary.Header{Shape: summary.DefaultShape(len(interest))}
	h.Shape.SampleBytes = 8 << 10
	visitOf(t, o, time.Second, plain.New("huge", interest, h), 1, 1<<60)
	if e := o.directory.Lookup("huge"); e == nil || e.Held() == nil {
		t.Fatal("its summary is not known")
	}
	late := sign("late", interest)
	names := visitOf(t, o, 2*time.Second, late, late.Stream.Parts(), 1<<60) // samples are compared as deep as it is known
	if len(names.Introductions) != 1 || string(names.Introductions[0].Record) != "early" {
		for _, i := range names.Introductions {
			t.Errorf("introduced to %s by %d bytes", i.Record, i.Run.EncodedBytes())
		}
		t.Error("want the one with a small sample")
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
	place, last := m.place, m.place.Distance(exchange.PlaceOf(to.Peer))
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
		if d := place.Distance(exchange.PlaceOf(to.Peer)); d >= last {
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

// TestNewcomerMeets: a peer that joins long after another finds it at a meeting place, whether or not the other knows
// enough of its like. All that they ask is answered by one peer, which keeps no more than its visitors.
func TestNewcomerMeets(t *testing.T) {
	const joins, until = 65 * time.Minute, 67 * time.Minute
	interest := randomKeys(5, 100)
	for _, alike := range []int{0, fewAlike} {
		place := acquainted(t, 0)
		asked := 0
		round := func(o *world, self wire.PeerID, now time.Duration) {
			o.now = now
			o.effects.Begin()
			o.exchange.Refill(now)
			o.acquaint(now)
			for _, e := range slices.Clone(o.effects.List()) {
				ask, ok := e.(event.Ask)
				if !ok {
					continue
				}
				asked++
				for _, a := range step(t, place, now, event.Asked{From: self, Question: ask.Question}) {
					if a, ok := a.(event.Answer); ok {
						o.onNames(now, ask.To.Peer, a.Answer.(wire.Names))
					}
				}
				if e := place.directory.Lookup(self); e != nil {
					place.directory.Remove(e.Index())
					place.pass()
				}
			}
		}
		early, late := knowing(t, "early", interest, interest, alike), knowing(t, "late", interest, randomKeys(6, 100), fewAlike)
		knows(t, early, randomKeys(6, 100), "stranger", fewAlike)
		early.depth, late.depth = 1, 1
		if n := len(early.similar()); n != alike {
			t.Fatalf("%d alike are known, want %d", n, alike)
		}
		for now := time.Second; now < until; now += time.Second {
			round(early, "early", now)
			if now == joins {
				t.Logf("%d alike: %d questions in %v", alike, asked, now)
			}
			if now >= joins {
				round(late, "late", now)
			}
		}
		if e := late.directory.Lookup("early"); e == nil || e.Held() == nil {
			t.Errorf("%d alike: the newcomer does not know the peer like it", alike)
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
		if m.place.Distance(exchange.PlaceOf(p)) < m.reached {
			nearer++
			o.Nearer(to.Peer, wire.Record{Peer: p, Envelope: []byte(p)})
		}
	}
	if opened != meetNamed || len(m.named) != meetNamed {
		t.Errorf("%d records were opened and %d peers taken, want %d", opened, len(m.named), meetNamed)
	}
}
