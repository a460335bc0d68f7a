package overlay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
)

func TestAnswersAreBounded(t *testing.T) {
	var a answers
	for range 100_000 {
		a.add(9, 1)
	}
	if n := a.hits + a.misses; n > maxAnswers || n < maxAnswers/4 {
		t.Errorf("%d answers count, want %d at most", n, maxAnswers)
	}
	if a.audit().Refuted() {
		t.Errorf("%+v: refuted though nine of ten keys were held", a)
	}
	a.add(0, 1<<40)
	if n := a.hits + a.misses; n > maxAnswers || !a.audit().Refuted() {
		t.Errorf("%+v: more than count, or not refuted by misses alone", a)
	}
	for range 50 {
		a.halve()
	}
	if (a != answers{hits: 1}) {
		t.Errorf("of %+v only one hit should stay", a)
	}
}

// A peer that an audit refutes keeps its chance of a random place, and is believed again in time: sooner if it publishes,
// but not the sooner the more it publishes.
func TestRefutedForAWhile(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{Up: 1e9, Down: 1e9})
	o.Step(0, LinkOpened{Peer: "peer"})
	keys := make([]summary.Fingerprint, 100)
	for i := range keys {
		keys[i] = summary.Fingerprint(i) << 38
	}
	epoch := uint32(0)
	publish := func(at time.Duration) {
		epoch++
		s, err := summary.Build(keys, summary.Header{
			Seed: tag, Origin: "peer", Epoch: summary.Epoch{Generation: 1, Sequence: epoch}, Lifetime: 100 * time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		envelope, err := s.Header().AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := s.Prefix().Run(0, s.Prefix().Parts())
		if err != nil {
			t.Fatal(err)
		}
		o.Step(at, PartsReceived{
			From: "peer", Way: Message, Group: s.Header().Group(), Run: run, Envelope: envelope, Record: []byte("peer"),
		})
	}
	check := func(what string, similar bool) {
		t.Helper()
		e, known := o.lookup("peer")
		if !known {
			t.Fatal("the peer is not known")
		}
		for k, want := range map[Kind]bool{Random: true, Near: true, Similar: similar, Complementary: similar} {
			if got := o.eligible(o.now, e, k, func(*neighbour) bool { return true }); got != want {
				t.Errorf("%s (%+v): %v for a %v place: %v", what, e.answers, o.now, k, got)
			}
		}
	}
	publish(0)
	check("at first", true)
	at := 2 * time.Minute
	o.Step(at, Outcome{Peer: "peer", Misses: 20})
	check("refuted", false)
	for range 10 {
		at += time.Second
		publish(at)
	}
	check("after many epochs in a row", false)
	publish(at + fadeAgain)
	check("after one a while later", true)

	at += fadeAgain
	o.Step(at, Outcome{Peer: "peer", Misses: 20})
	check("refuted again", false)
	for range 3 * int(fadeEvery/time.Second) { // what it answered before counts as well
		at += time.Second
		o.Step(at, Tick{})
	}
	check("after that time", true)
}
