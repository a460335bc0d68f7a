package node

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/node/core"
)

// TestSlept: a node that has slept publishes a new epoch at once, for others have dropped the one before.
func TestSlept(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	add(t, n, []byte("k"))
	epochs := func() int { return statusOf(t, n).Epochs }
	eventually(t, "the first epoch", func() bool { return epochs() > 0 })
	before := epochs()
	look(t, n, func(l *loop) {
		l.wall = func() time.Time { return time.Now().Add(core.Lifetime) }
	})
	eventually(t, "an epoch after an hour's sleep", func() bool { return epochs() > before })
}

// TestSleep: slow corrections of the wall clock are no sleep, however many there are.
func TestSleep(t *testing.T) {
	var s sleep
	wall, core := time.Unix(1_700_000_000, 0), 3*time.Second
	s.since(wall, core)
	for i := range 1000 {
		wall, core = wall.Add(tick+leastSleep/2), core+tick
		if got := s.since(wall, core); got != 0 {
			t.Fatalf("step %d: slept %v", i, got)
		}
	}
	for _, slept := range []time.Duration{time.Hour, leastSleep, 24 * time.Hour} {
		if got := s.since(wall.Add(slept), core); got != slept {
			t.Errorf("slept %v, not %v", got, slept)
		}
		wall = wall.Add(slept)
	}
	if got := s.since(wall.Add(-time.Hour), core); got != 0 {
		t.Errorf("a clock set back: slept %v", got)
	}
}
