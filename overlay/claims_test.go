package overlay_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaytest"
)

// Claims of newer epochs that do not exist do not keep the true ones from being learned.
func TestClaimsOfNewerEpochs(t *testing.T) {
	learned := func(every time.Duration, sessions bool, l exchange.Limits) int {
		n, err := overlaytest.LiedTo(overlay.Config{Limits: overlay.Limits{Exchange: l}}, every, sessions)
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
	held, all, err := overlaytest.PartsBeside(overlay.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if held < all || all < 2 {
		t.Errorf("%d parts of %d are held", held, all)
	}
}

// Nobody is blamed for bringing what was asked for before its origin was forgotten or the link closed.
func TestPartsThatComeLate(t *testing.T) {
	for name, c := range map[string]struct {
		memory int
		closes bool
	}{"forgotten": {300_000, false}, "closed": {0, true}, "both": {300_000, true}} {
		t.Run(name, func(t *testing.T) {
			for _, late := range []time.Duration{0, -1} {
				limits := overlay.Limits{Exchange: exchange.Limits{Late: late}}
				n, err := overlaytest.BlamedForLate(overlay.Config{Memory: c.memory, Limits: limits}, c.closes)
				if err != nil {
					t.Fatal(err)
				}
				if (n == 0) != (late == 0) {
					t.Errorf("late parts for %v: %d reports of a link that brought what it was asked", late, n)
				}
			}
		})
	}
}

// TestFetchedOfForgottenOrigin: nobody is blamed for what comes on a stream that this node has opened, of an origin
// that it has forgotten meanwhile.
func TestFetchedOfForgottenOrigin(t *testing.T) {
	for way, want := range map[event.Transport]int{event.Direct: 0, event.Pubsub: 1} {
		s, err := overlaytest.NewScene(1, 50, overlay.Config{})
		if err != nil {
			t.Fatal(err)
		}
		in := s.Origins[0].Sent(overlaytest.Honest, 0, 1)
		in.Transport = way
		s.Step(time.Second, in)
		if n := s.Faults[event.FaultUnasked]; n != want {
			t.Errorf("by transport %v: %d reports, want %d", way, n, want)
		}
	}
}
