package region

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/space"
)

// TestHearsayFades: places of which nothing signed came count for an hour after they were last heard of.
func TestHearsayFades(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	for i := range nearestMost {
		o.Note(o.place^space.Place(i+1)<<40, i%8 == 0)
	}
	o.At(30 * time.Minute)
	o.Note(o.place^1<<40, false)
	o.Note(o.place^2<<40, false)
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{time.Hour - 1, nearestMost}, {time.Hour, nearestMost/8 + 1}, {90 * time.Minute, nearestMost / 8}, {100 * time.Hour, nearestMost / 8}} {
		o.At(c.at)
		o.Survey()
		if len(o.nearest) != c.want {
			t.Errorf("at %v: %d places are remembered, want %d", c.at, len(o.nearest), c.want)
		}
	}
}
