package region

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/space"
)

// TestDepth: the range fits the room, could not be four times as wide, and does not change when the estimate wavers.
func TestDepth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		m := Means{
			Memory: math.Ldexp(1, 10+rng.IntN(20)), Origin: 1500, Rate: math.Ldexp(1, 8+rng.IntN(12)), Wire: 1500, Fill: 60,
		}
		if rng.IntN(2) == 0 {
			m.Most = 128
		}
		n := math.Exp(rng.Float64() * 15)
		now := rng.IntN(12)
		d := Depth(now, m, n)
		if d == space.MaxDepth {
			continue
		}
		room := m.Room()
		if held := math.Ldexp(n, -d); held > room || d > 0 && held > planned*room {
			t.Fatalf("%+v, %v origins: depth %d holds %v of %v", m, n, d, held, room)
		}
		if twice := math.Ldexp(n, 2-d); d > 1 && twice < wider*planned*room {
			t.Fatalf("%+v, %v origins: depth %d is too deep", m, n, d)
		}
		if again := Depth(d, m, n); again != d {
			t.Fatalf("%+v, %v origins: depth %d, then %d", m, n, d, again)
		}
		up, down := Depth(d, m, 1.1*n), Depth(d, m, n/1.1)
		if Depth(up, m, n) != up && Depth(down, m, n) != down {
			t.Fatalf("%+v, %v origins: depth goes to and fro between %d, %d and %d", m, n, d, up, down)
		}
	}
	for n, want := range map[float64]int{120: 2, 108: 1} { // twice as wide, it would hold 60 or 54 of 100
		if d := Depth(2, Means{Most: 100}, n); d != want {
			t.Errorf("%v origins, from depth 2 to %d, want %d", n, d, want)
		}
	}
	if d := Depth(0, Means{Most: 121}, 121); d != 0 {
		t.Errorf("depth %d where all fit", d)
	}
	if d := Depth(0, Means{}, 1e12); d != 0 {
		t.Errorf("depth %d without bounds", d)
	}
}
