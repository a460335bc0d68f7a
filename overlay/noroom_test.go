package overlay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestNoRoomToDial: who was not dialled, because there was no room for a connection, counts as reached. It is asked as
// before.
func TestNoRoomToDial(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	fps := []summary.Fingerprint{1, 2, 3}
	own := plain.Of("self", fps)
	step(t, o, 0, event.Published{Stream: own.Stream, Envelope: own.Envelope, Record: own.Record})
	s := plain.Of("id", fps)
	run, err := s.Stream.Run(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	step(t, o, 0, event.Asked{From: "id", Question: wire.Inquiry{Own: []wire.Parts{{Envelope: s.Envelope, Record: s.Record, Run: run}}}})
	for fails, here := range []bool{true, false} {
		step(t, o, time.Second, event.DialFailed{Peer: "id", Here: here})
		if got := o.directory.Lookup("id").DialFails(); got != fails {
			t.Errorf("no room here: %v; it failed %d times, want %d", here, got, fails)
		}
	}
}
