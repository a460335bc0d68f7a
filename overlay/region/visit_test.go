package region_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

func randomKeys(seed uint64, n int) []summary.Fingerprint {
	return plain.Keys(rand.New(rand.NewPCG(seed, 9)), n)
}

// asker is a peer that asks others for its like.
type asker struct {
	plain.Origin
	parts int // of its summary, that go along with a question
}

func sign(id wire.PeerID, fps []summary.Fingerprint) asker {
	return asker{plain.New(id, fps, summary.Header{Lifetime: 2 * time.Hour}), 1}
}

// peer returns an overlay with room for the given number of origins. Its links say that the network is large, so it
// covers a part of it.
func peer(t *testing.T, self wire.PeerID, origins, links int) *overlay.Overlay {
	t.Helper()
	o, err := overlay.New(overlay.Config{
		Self: self, Seed: plain.Tag, Rand: rand.New(rand.NewPCG(2, 3)), MaxOrigins: origins,
		OpenHeader: summary.ParseHeader, OpenRecord: plain.OpenRecord,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range links {
		p := wire.PeerID(fmt.Sprint("link", i))
		o.Step(0, event.LinkOpened{Peer: p})
		o.Step(0, event.HelloReceived{Peer: p, Hello: wire.Hello{Network: 1000, Records: []wire.Record{{Peer: p, Envelope: []byte(p)}}}})
	}
	if o.Step(time.Second, event.Tick{}); o.Vouched() == 0 {
		t.Fatal("it covers everybody")
	}
	t.Cleanup(func() {
		if err := o.Check(); err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
	return o
}

// visit has a peer ask at a meeting place, with its summary, and returns the answer.
func visit(t *testing.T, o *overlay.Overlay, now time.Duration, a asker, place space.Place) wire.Names {
	t.Helper()
	run, err := a.Stream.Run(0, a.parts)
	if err != nil {
		t.Fatal(err)
	}
	q := wire.Inquiry{Depth: 7, Meet: place, Own: []wire.Parts{{Envelope: a.Envelope, Record: a.Record, Run: run}}}
	names, ok := answer(o, now, wire.PeerID(a.Record), q)
	if !ok {
		t.Fatal("no answer")
	}
	return names
}

// answer asks o a peer's question, and returns the answer.
func answer(o *overlay.Overlay, now time.Duration, from wire.PeerID, q wire.Message) (names wire.Names, ok bool) {
	for _, e := range o.Step(now, event.Asked{From: from, Question: q}) {
		if a, is := e.(event.Answer); is {
			names, ok = a.Answer.(wire.Names)
		}
	}
	return names, ok
}

// named fails the test unless an answer introduces the given peers.
func named(t *testing.T, names wire.Names, want ...string) {
	t.Helper()
	var got []string
	for _, i := range names.Introductions {
		got = append(got, string(i.Record))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("introduced to %q, want %q", got, want)
	}
}

// TestVisitorsMeet: a peer that asks at a meeting place hears of an earlier visitor that is like it at its first
// question, by the summary that comes with the question. It hears of no other. The peer asked need not keep that
// visitor. Once their summaries are old it names none.
func TestVisitorsMeet(t *testing.T) {
	const place = 1 << 60
	o := peer(t, "place", 1, 3)
	interest := randomKeys(5, 100)
	visit(t, o, time.Second, sign("other", randomKeys(6, 100)), place)
	visit(t, o, time.Second, sign("early", interest), place)
	if o.Step(2*time.Second, event.Tick{}); o.Origins() > 1 {
		t.Errorf("%d origins are kept, the early one among them", o.Origins())
	}
	if _, kept := o.Held("early"); kept {
		t.Error("the early one is kept")
	}
	late := sign("late", interest)
	named(t, visit(t, o, 2*time.Second, late, place), "early")
	named(t, visit(t, o, 2*time.Second, late, 0)) // it looks up no place, and so is introduced to no visitor
	o.Step(3*time.Hour, event.Tick{})
	named(t, visit(t, o, 3*time.Hour, sign("later", interest), place))
}

// TestHugeSample: a summary with a first part that makes an answer too long is not passed on. Others alike are.
func TestHugeSample(t *testing.T) {
	const place = 1 << 60
	o := peer(t, "self", 1, 3)
	interest := randomKeys(5, 20_000)
	visit(t, o, time.Second, sign("early", interest), place)
	h := summary.Header{Shape: summary.DefaultShape(len(interest)), Lifetime: 2 * time.Hour}
	h.Shape.SampleBytes = 8 << 10
	visit(t, o, time.Second, asker{plain.New("huge", interest, h), 1}, place)
	late := sign("late", interest)
	late.parts = late.Stream.Parts() // samples are compared as deep as it is known
	named(t, visit(t, o, 2*time.Second, late, place), "early")
}

// TestNewcomerMeets: a peer that joins long after another finds it at a meeting place, whether or not the other knows
// enough of its like. All that they ask is answered by one peer, which keeps no more than its visitors.
func TestNewcomerMeets(t *testing.T) {
	const joins, until, enough = 65 * time.Minute, 67 * time.Minute, 16
	interest := randomKeys(5, 100)
	for _, alike := range []int{0, enough} {
		place := peer(t, "place", 1, 3)
		seeks := func(self wire.PeerID, alike int) *overlay.Overlay {
			o, own := peer(t, self, 64, 12), sign(self, interest)
			o.Step(time.Second, event.Published{Stream: own.Stream, Envelope: own.Envelope, Record: own.Record})
			for i := range enough {
				visit(t, o, time.Second, sign(wire.PeerID(fmt.Sprint("stranger", i)), randomKeys(6, 100)), 0)
				if i < alike {
					visit(t, o, time.Second, sign(wire.PeerID(fmt.Sprint("alike", i)), interest), 0)
				}
			}
			o.Step(2*time.Second, event.Tick{})
			known := slices.DeleteFunc(o.Similar(2*enough), func(a overlay.Alike) bool { return a.Overlap.Low <= 0 })
			if len(known) != alike {
				t.Fatalf("%s knows %d like it, want %d", self, len(known), alike)
			}
			return o
		}
		asked := 0
		step := func(o *overlay.Overlay, self wire.PeerID, now time.Duration) {
			for _, e := range o.Step(now, event.Tick{}) {
				if ask, ok := e.(event.Ask); ok {
					asked++
					names, _ := answer(place, now, self, ask.Question)
					o.Step(now, event.Answered{Ask: ask, Answer: names})
				}
			}
		}
		early, late := seeks("early", alike), seeks("late", 0)
		for now := 3 * time.Second; now < until; now += agenda.Beat {
			step(early, "early", now)
			if now == joins {
				t.Logf("%d alike: %d questions in %v", alike, asked, now)
			}
			if now >= joins {
				step(late, "late", now)
			}
		}
		if _, known := late.Held("early"); !known {
			t.Errorf("%d alike: the newcomer does not know the peer like it", alike)
		}
	}
}
