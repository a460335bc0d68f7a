package directory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// held returns a directory that holds a part of x's summary, and the entry.
func held(t *testing.T) (*Directory, *Entry) {
	t.Helper()
	d := alone(rand.New(rand.NewPCG(1, 1)), Config{Memory: 1 << 20, MaxOrigins: 100})
	d.Open("link", "")
	s := plain.Of("x", []summary.Fingerprint{1, 2, 3})
	run, err := s.Stream.Run(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := wire.GroupOf(s.Stream.Header())
	e := d.Add(0, "link", g.OriginTag())
	d.Take(0, e, event.PartsReceived{
		From: "link", Group: g, Parts: wire.Parts{Envelope: s.Envelope, Record: s.Record, Run: run},
	})
	return d, e
}

// TestAuditsDoNotRestore: a peer that says no to searches is not believed more for saying yes to an audit.
func TestAuditsDoNotRestore(t *testing.T) {
	d, e := held(t)
	for range 3 {
		d.Outcome(time.Minute, "x", 0, 1)
		d.Outcome(time.Minute, "x", 20, 0)
	}
	if hits, misses := e.Answers(); hits != 0 || misses != 3 {
		t.Errorf("%d hits and %d misses count, want 0 and 3", hits, misses)
	}
	if !d.Outcome(time.Minute, "x", 1, 19) || !e.Refuted() {
		t.Error("an audit that refutes does not count")
	}
}

// TestAnswersFadeFromTheirOwnTime: the first answers about a summary that was held for long count in full for a minute.
func TestAnswersFadeFromTheirOwnTime(t *testing.T) {
	d, e := held(t)
	const asked = 20 * time.Minute
	d.Outcome(asked, "x", 0, 20)
	d.Tidy(asked + time.Second)
	if _, misses := e.Answers(); misses != 20 {
		t.Errorf("%d misses of 20 count after a second", misses)
	}
	d.Tidy(asked + agenda.Faded + time.Second)
	if _, misses := e.Answers(); misses != 10 {
		t.Errorf("%d misses of 20 count after %v, want half", misses, agenda.Faded)
	}
}
