package overlay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/summary"
)

// TestSurveyAfterChanges: all entries are looked at once after a change, and not while nothing changes. That what is
// remembered is what a look brings, Check says after every step.
func TestSurveyAfterChanges(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 8)), Config{})
	linked(t, o, "p")
	for now := time.Second; now < 4*time.Second; now += time.Second {
		step(t, o, now, Tick{})
	}
	const mark = -1
	o.scope.seen.held = mark
	o.Step(5*time.Second, Tick{})
	if o.scope.seen.held != mark {
		t.Error("all entries are looked at, and nothing has changed")
	}
	items := []Item{{Group: group.New(7, summary.Epoch{Generation: 1}), Have: 1}}
	o.Step(6*time.Second, CatalogueReceived{From: "p", Items: items, Bytes: 20})
	if o.scope.seen.held == mark {
		t.Error("a new origin is not looked at")
	}
}
