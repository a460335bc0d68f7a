package directory

import (
	"math"
	"testing"
	"time"
)

// TestAverage: the mean memory by which the room for origins is reckoned is what an origin takes once all parts but the
// first are dropped, whatever the size of its collection.
func TestAverage(t *testing.T) {
	for _, c := range []struct{ origins, keys int }{{400, 5}, {400, 50}, {400, 200}, {400, 2000}, {60, 12_000}} {
		d := filled(t, c.origins, c.keys, false)
		reckoned, _, _ := d.Average()
		for d.shedParts(0) {
		}
		d.Tidy(2 * time.Minute)
		counted := float64(d.Memory()) / float64(c.origins)
		t.Logf("%d keys: %.0f bytes reckoned, %.0f counted", c.keys, reckoned, counted)
		if math.Abs(reckoned/counted-1) > .1 {
			t.Errorf("an origin of %d keys is reckoned as %.0f bytes, and counts as %.0f", c.keys, reckoned, counted)
		}
	}
}
