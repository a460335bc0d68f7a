package directory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/summary"
)

// TestLinkedKeepNobodyAwake: a linked peer that publishes no more costs no look at all entries. It expires once its link
// has closed.
func TestLinkedKeepNobodyAwake(t *testing.T) {
	d := alone(rand.New(rand.NewPCG(1, 1)), Config{Memory: 1 << 30, MaxOrigins: 100})
	d.Open("a")
	if _, ok := hear(d, 0, "a", sign(t, "a", []summary.Fingerprint{1, 2, 3})); !ok {
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
