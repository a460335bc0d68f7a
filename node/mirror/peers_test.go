package mirror

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestNearHoldersComeFirst(t *testing.T) {
	h := func(name string, ms int, s state) *source {
		return &source{ID: peer.ID(name), state: s, trip: time.Duration(ms) * time.Millisecond}
	}
	all := []*source{
		h("far", 90, state{Place: "b/1"}), h("busy", 1, state{Busy: true, Place: "a/1"}), h("zone", 1, state{Place: "a/2"}),
		h("rack", 1, state{Have: 5, Place: "a/1"}), h("less", 1, state{Place: "a/1"}), h("elsewhere", 1, state{}),
	}
	var got []string
	ordered("a/1", all)
	for _, h := range all {
		got = append(got, string(h.ID))
	}
	if want := "rack less zone elsewhere far busy"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestRanksHaveNoCircles lets mirrors take from each other at random, as their ranks allow, lose their sources and ask the
// origin, and looks for some that wait for each other.
func TestRanksHaveNoCircles(t *testing.T) {
	const n = 30
	states, from := make([]state, n), make([]int, n)
	for i := range states {
		states[i].lot, from[i] = lotOf(peer.ID([]byte{byte(i)}), meeting), -1
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		i, j := r.IntN(n), r.IntN(n)
		switch {
		case from[i] >= 0 && r.IntN(3) > 0:
			states[i].Have += (states[from[i]].Have - states[i].Have + 1) / 2
		case r.IntN(3) == 0:
			from[i] = -1 // its source has gone
		case from[i] < 0 && r.IntN(n) == 0:
			states[i].Origin = true
			states[i].Have += r.Int64N(3)
		case from[i] < 0 && states[j].below(states[i], from[j] >= 0):
			from[i] = j
		}
		for i := range from {
			steps := 0
			for at := i; at >= 0; at = from[at] {
				if steps++; steps > n {
					t.Fatalf("a circle at %d", i)
				}
			}
		}
	}
}

// TestCommonPlaces: a mirror without a label is near nobody by its label.
func TestCommonPlaces(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "a", 0}, {"a/b", "a/c", 1}, {"a/b", "a/b", 2}, {"a", "b/a", 0}} {
		if got := common(c.a, c.b); got != c.want {
			t.Errorf("%q and %q have %d parts in common, want %d", c.a, c.b, got, c.want)
		}
	}
}
