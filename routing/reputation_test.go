package routing

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// TestLightestReputationGoes: when more peers are known than are remembered, the record that says least goes. Right
// names and wrong ones weigh the same, and the record noted last stays.
func TestLightestReputationGoes(t *testing.T) {
	r := limited()
	r.weigh("wrong often", 1, 5)
	r.weigh("right often", 5, 1)
	r.weigh("right once", 1, 0)
	for i := range maxReputations - 3 {
		r.weigh(wire.PeerID(fmt.Sprint("known ", i)), 2, 1)
	}
	r.weigh("last", 0.5, 0)
	if _, there := r.reputations["right once"]; there || len(r.reputations) != maxReputations {
		t.Errorf("%d records, the lightest of them kept %v", len(r.reputations), there)
	}
	for _, p := range []wire.PeerID{"wrong often", "right often", "last"} {
		if _, there := r.reputations[p]; !there {
			t.Errorf("the record of %q is gone", p)
		}
	}
}

// TestProvedForAWhile: a peer that named one holder counts as proved until that is half forgotten, and not while it
// named as many wrong peers.
func TestProvedForAWhile(t *testing.T) {
	half := limited().cfg.Limits.Fade
	for now, want := range map[time.Duration]bool{0: true, half: true, half + time.Second: false} {
		r := limited()
		r.reputations, r.now = reputations{"right": {good: 1}, "both": {good: 1, bad: 1}}, now
		if r.proved("right") != want || r.proved("both") {
			t.Errorf("at %v proved %v and %v, want %v and false", now, r.proved("right"), r.proved("both"), want)
		}
	}
}
