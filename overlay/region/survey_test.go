package region

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
)

// TestSurveyAfterChanges: all entries are looked at once after a change, and not while nothing changes. That what is
// remembered is what a look brings, Check says after every step.
func TestSurveyAfterChanges(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 8)), Config{})
	step(t, o, 0, event.LinkOpened{Peer: "p"})
	for now := time.Second; now < 4*time.Second; now += time.Second {
		step(t, o, now, event.Tick{})
	}
	const mark = -1
	o.seen.held = mark
	o.tick(5 * time.Second)
	if o.seen.held != mark {
		t.Error("all entries are looked at, and nothing has changed")
	}
	o.directory.Add(6*time.Second, "p", 7)
	o.pass()
	o.tick(6 * time.Second)
	if o.seen.held == mark {
		t.Error("a new origin is not looked at")
	}
}
