package mirror

import (
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestNearHoldersComeFirst(t *testing.T) {
	h := func(name string, ms int, s state) holder {
		return holder{peer.AddrInfo{ID: peer.ID(name)}, s, time.Duration(ms) * time.Millisecond}
	}
	all := []holder{
		h("far", 90, state{Place: "b/1"}), h("busy", 1, state{Busy: true, Place: "a/1"}), h("zone", 1, state{Place: "a/2"}),
		h("rack", 1, state{Place: "a/1"}), h("deep", 1, state{Depth: 2, Place: "a/1"}), h("elsewhere", 1, state{}),
	}
	var got []string
	for _, h := range ordered("a/1", all) {
		got = append(got, string(h.ID))
	}
	if want := "rack zone elsewhere far deep busy"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestRanksHaveNoCircles lets mirrors take from each other at random, as their ranks allow, and looks for two that wait
// for each other.
func TestRanksHaveNoCircles(t *testing.T) {
	sum := Sum{Plain, [32]byte{1}}
	const n = 30
	ranks, from := make([]rank, n), make([]int, n)
	for i := range ranks {
		ranks[i], from[i] = rankOf(peer.ID([]byte{byte(i)}), sum, undecided), -1
	}
	seed := uint64(1)
	draw := func() int { seed = seed*6364136223846793005 + 1442695040888963407; return int(seed>>33) % n }
	for range 20_000 {
		switch i, j := draw(), draw(); {
		case draw() == 0:
			from[i] = -1 // its source has gone
		case draw() == 0:
			from[i], ranks[i].depth = -1, 0 // it asks the origin
		case from[i] < 0 && ranks[i].depth > 0 && ranks[j].below(ranks[i]):
			from[i], ranks[i].depth = j, min(ranks[i].depth, ranks[j].depth+1)
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
