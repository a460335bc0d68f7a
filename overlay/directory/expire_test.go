package directory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestLinkedKeepNobodyAwake: a linked peer that publishes no more costs no look at all entries. It expires once its link
// has closed.
func TestLinkedKeepNobodyAwake(t *testing.T) {
	d := alone(rand.New(rand.NewPCG(1, 1)), Config{Memory: 1 << 30, MaxOrigins: 100})
	d.Open("a", "")
	if _, ok := hear(d, 0, "a", plain.Of("a", []summary.Fingerprint{1, 2, 3})); !ok {
		t.Fatal("not taken in")
	}
	d.Changes()
	e := d.Lookup("a")
	now := e.expires() + time.Minute
	d.Step(now)
	if at := d.due.At(dueExpiry); e.State() != Held || at != agenda.Never {
		t.Errorf("state %v, and the next look at all entries at %v, want held and none", e.State(), at)
	}
	d.Close("a")
	if d.Step(now); e.State() != Expired {
		t.Errorf("state %v after the link closed, want expired", e.State())
	}
	if err := d.Check(now); err != nil {
		t.Error(err)
	}
}

// TestPendingGo: an entry that nobody says more of is given up after 30 s. One with a record lasts longer, unless three
// dials have failed.
func TestPendingGo(t *testing.T) {
	for name, c := range map[string]struct {
		named bool
		fails int
		stays time.Duration
	}{"pending": {false, 0, 30 * time.Second}, "named": {true, 2, agenda.Faded}, "out of reach": {true, unreachableAfter, 30 * time.Second}} {
		d := alone(rand.New(rand.NewPCG(1, 1)), Config{Memory: 1 << 30, MaxOrigins: 100})
		d.Open("a", "")
		if c.named {
			d.LearnRecord(0, "a", wire.Record{Peer: "x", Envelope: []byte("x")})
		} else {
			d.Add(0, "a", 7)
		}
		for range c.fails {
			d.DialFailed("x")
		}
		d.Changes()
		d.due.By(dueExpiry, 0)
		if stale := d.Step(c.stays - time.Second); len(stale) > 0 {
			t.Errorf("%s: gone before %v", name, c.stays)
		}
		d.due.By(dueExpiry, 0) // as any entry that is pending has it
		if stale := d.Step(c.stays); len(stale) != 1 || stale[0].Offerable == c.named {
			t.Errorf("%s: %+v after %v", name, stale, c.stays)
		}
	}
}
