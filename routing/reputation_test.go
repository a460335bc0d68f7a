package routing

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// TestConductNotedLastStays: of more peers than are remembered, those noted last stay, with both sides of their conduct.
// Peers doubted on the word of others take no place of theirs.
func TestConductNotedLastStays(t *testing.T) {
	r := limited()
	for i := range maxConducts {
		r.weigh(wire.PeerID(fmt.Sprint("known ", i)), 2, 1)
	}
	r.noteFailure("known 0", r.now, true, false)
	r.weigh("new", 0, 1)
	r.hear("gone")
	for p, want := range map[wire.PeerID]bool{"known 0": true, "known 1": false, "known 2": true, "new": true, "gone": false} {
		if c := r.conduct(p); (c != conduct{}) != want {
			t.Errorf("%q: %+v, want some: %v", p, c, want)
		}
	}
	if c := r.conduct("known 0"); c.reputation.good != 2 || !c.failure.noted || r.conducts.Len() != maxConducts {
		t.Errorf("%+v, of %d", c, r.conducts.Len())
	}
	if r.lives("known 0"); r.conduct("known 0").failure != (failure{}) || r.conduct("known 0").reputation.good != 2 {
		t.Errorf("after an answer: %+v", r.conduct("known 0"))
	}
}

// TestProvedForAWhile: a peer that named one holder counts as proved until that is half forgotten, and not while it
// named as many wrong peers.
func TestProvedForAWhile(t *testing.T) {
	half := limited().cfg.Limits.Fade
	for now, want := range map[time.Duration]bool{0: true, half: true, half + time.Second: false} {
		r := limited()
		r.weigh("right", 1, 0)
		r.weigh("both", 1, 1)
		r.now = now
		if r.proved("right") != want || r.proved("both") {
			t.Errorf("at %v proved %v and %v, want %v and false", now, r.proved("right"), r.proved("both"), want)
		}
	}
}
