package overlay_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/defence"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaytest"
)

// Claims of newer epochs that do not exist do not keep the true ones from being learned.
func TestClaimsOfNewerEpochs(t *testing.T) {
	learned := func(every time.Duration, sessions bool, off defence.Off) int {
		n, err := overlaytest.LiedTo(overlay.Config{Undefended: off}, every, sessions)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, every := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 7 * time.Second} {
		if n := learned(every, false, 0); n != 120 {
			t.Errorf("claims every %v: %d of 120 origins are known", every, n)
		}
		if n := learned(every, true, 0); n != 120 {
			t.Errorf("claims every %v, in new sessions: %d of 120 origins are known", every, n)
		}
	}
	if n := learned(5*time.Second, false, defence.Credit); n == 120 {
		t.Error("without credit, nothing is gained by lying")
	}
	if n := learned(2*time.Second, true, defence.Memory); n == 120 {
		t.Error("without memory of sessions, nothing is gained by a new one")
	}
}

// What is held already, sent again, does not keep an ask alive.
func TestAskLivesByGrowth(t *testing.T) {
	for _, off := range []defence.Off{0, defence.Growth} {
		held, all, err := overlaytest.PartsBeside(overlay.Config{Undefended: off})
		if err != nil {
			t.Fatal(err)
		}
		if (held == all) != (off == 0) {
			t.Errorf("without defence %v: %d parts of %d are held", off, held, all)
		}
	}
}

// Nobody is blamed for bringing what was asked for before its origin was forgotten or the link closed.
func TestPartsThatComeLate(t *testing.T) {
	for name, c := range map[string]struct {
		memory int
		closes bool
	}{"forgotten": {300_000, false}, "closed": {0, true}, "both": {300_000, true}} {
		t.Run(name, func(t *testing.T) {
			for _, off := range []defence.Off{0, defence.Released} {
				n, err := overlaytest.BlamedForLate(overlay.Config{Memory: c.memory, Undefended: off}, c.closes)
				if err != nil {
					t.Fatal(err)
				}
				if (n == 0) != (off == 0) {
					t.Errorf("without defence %v: %d reports of a link that brought what it was asked", off, n)
				}
			}
		})
	}
}

// TestFetchedOfForgottenOrigin: nobody is blamed for what comes on a stream that this node has opened, of an origin
// that it has forgotten meanwhile.
func TestFetchedOfForgottenOrigin(t *testing.T) {
	for off, want := range map[defence.Off]int{0: 0, defence.Released: 1} {
		s, err := overlaytest.NewScene(1, 50, overlay.Config{Undefended: off})
		if err != nil {
			t.Fatal(err)
		}
		in := s.Origins[0].Sent(overlaytest.Honest, 0, 1)
		in.Transport = event.Direct
		s.Step(time.Second, in)
		if n := s.Faults[event.FaultUnasked]; n != want {
			t.Errorf("without defence %v: %d reports, want %d", off, n, want)
		}
	}
}
