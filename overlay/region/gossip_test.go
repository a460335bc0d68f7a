package region

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
)

// TestGossipPace: rounds that bring nothing come ever later, and soon again after one that brings somebody.
func TestGossipPace(t *testing.T) {
	var g Gossip
	for range strangerEvery {
		if wait := g.Asked(); wait != agenda.Beat {
			t.Fatalf("wait %v", wait)
		}
	}
	last := agenda.Beat
	for range 40 {
		wait := g.Asked()
		if wait < last || wait > lastRound {
			t.Fatalf("wait %v after %v", wait, last)
		}
		last = wait
	}
	if last != lastRound || last < time.Minute {
		t.Errorf("wait %v at last", last)
	}
	g.Learned()
	if wait := g.Asked(); wait != agenda.Beat {
		t.Errorf("wait %v after somebody was learned of", wait)
	}
	strangers := 0
	for range 100 {
		if g.Stranger() {
			strangers++
		}
		g.Asked()
	}
	if strangers != 25 {
		t.Errorf("%d strangers of 100", strangers)
	}
}

// TestPick: the more similar the likelier, and never out of bounds.
func TestPick(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var g Gossip
	counts := make([]int, 48)
	for range 48000 {
		counts[g.Pick(48, rng)]++
	}
	if counts[0] < 2*counts[12] || counts[12] < 2*counts[30] || g.Pick(1, rng) != 0 {
		t.Errorf("counts %v", counts)
	}
}
