package overlay_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/summary"
)

// Claims of newer epochs that do not exist do not keep the true ones from being learned.
func TestClaimsOfNewerEpochs(t *testing.T) {
	learned := func(every time.Duration, sessions bool, l exchange.Limits) int {
		n, err := overlaylab.LiedTo(overlay.Config{Limits: overlay.Limits{Exchange: l}}, every, sessions)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, every := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 7 * time.Second} {
		if n := learned(every, false, exchange.Limits{}); n != 120 {
			t.Errorf("claims every %v: %d of 120 origins are known", every, n)
		}
		if n := learned(every, true, exchange.Limits{}); n != 120 {
			t.Errorf("claims every %v, in new sessions: %d of 120 origins are known", every, n)
		}
	}
	if n := learned(5*time.Second, false, exchange.Limits{Credit: math.Inf(1)}); n == 120 {
		t.Error("without credit, nothing is gained by lying")
	}
	if n := learned(2*time.Second, true, exchange.Limits{Remember: -1}); n == 120 {
		t.Error("without memory of sessions, nothing is gained by a new one")
	}
}

// What is held already, sent again, does not keep an ask alive.
func TestAskLivesByGrowth(t *testing.T) {
	held, all, err := overlaylab.PartsBeside(overlay.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if held < all || all < 2 {
		t.Errorf("%d parts of %d are held", held, all)
	}
}

// Nobody is blamed for bringing what was asked for before its origin was forgotten or the link closed. What outlives the
// link does so by a limit.
func TestPartsThatComeLate(t *testing.T) {
	for name, c := range map[string]struct {
		memory   int
		closes   bool
		remember time.Duration
	}{"forgotten": {300_000, false, 0}, "closed": {0, true, 0}, "both": {300_000, true, 0}, "not remembered": {0, true, -1}} {
		t.Run(name, func(t *testing.T) {
			limits := overlay.Limits{Exchange: exchange.Limits{Remember: c.remember}}
			n, err := overlaylab.BlamedForLate(overlay.Config{Memory: c.memory, Limits: limits}, c.closes)
			if err != nil {
				t.Fatal(err)
			}
			if (n == 0) != (c.remember == 0) {
				t.Errorf("%d reports of a link that brought what it was asked", n)
			}
		})
	}
}

// TestPartsAreOwedOnce: a link that was asked about an origin sends what it was asked, once. Known parts again, a later
// epoch and what comes an hour late are its fault, and nothing is remembered of what has come.
func TestPartsAreOwedOnce(t *testing.T) {
	s, err := overlaylab.NewScene(1, 5000, overlay.Config{})
	if err != nil {
		t.Fatal(err)
	}
	step := func(now time.Duration, in event.Input) []event.PartsReceived { return s.Asked(s.Overlay.Step(now, in)) }
	faults := func() int { return s.Faults[event.FaultUnasked] }
	catalogue := event.CatalogueReceived{From: overlaylab.Honest, Items: s.Items(nil), Bytes: 20}
	asked := append(step(time.Second, catalogue), step(time.Second+overlaylab.Tick, event.Tick{})...)
	if len(asked) != 1 {
		t.Fatalf("%d asks, want 1", len(asked))
	}
	var late []event.PartsReceived
	for range 100 {
		late = append(late, step(2*time.Second, asked[0])...)
	}
	n := faults()
	if n < 100-s.Origins[0].Parts() {
		t.Errorf("the answer came 100 times: %d reports, and there are %d parts", n, s.Origins[0].Parts())
	}
	later := s.Origins[0].Sent(overlaylab.Honest, 0, 1)
	later.Group = group.New(later.Group.OriginTag(), summary.Epoch{Generation: 9})
	if step(3*time.Second, later); faults() != n+1 {
		t.Errorf("a later epoch, unasked: %d reports, want 1", faults()-n)
	}
	if late = append(late, step(4*time.Second, catalogue)...); len(late) == 0 {
		t.Fatal("nothing deeper is asked")
	}
	for now := 5 * time.Second; now < time.Hour; now += time.Second {
		step(now, event.Tick{})
	}
	if step(time.Hour, late[0]); faults() != n+2 {
		t.Errorf("an answer an hour late: %d reports, want 1", faults()-n-1)
	}
}

// TestFetchedOfForgottenOrigin: nobody is blamed for what comes on a stream that this node has opened, of an origin
// that it has forgotten meanwhile.
func TestFetchedOfForgottenOrigin(t *testing.T) {
	for way, want := range map[event.Transport]int{event.Direct: 0, event.Pubsub: 1} {
		s, err := overlaylab.NewScene(1, 50, overlay.Config{})
		if err != nil {
			t.Fatal(err)
		}
		in := s.Origins[0].Sent(overlaylab.Honest, 0, 1)
		in.Transport = way
		s.Step(time.Second, in)
		if n := s.Faults[event.FaultUnasked]; n != want {
			t.Errorf("by transport %v: %d reports, want %d", way, n, want)
		}
	}
}
