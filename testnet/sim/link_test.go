package sim_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// A link that is asked for is there at the other end after a handshake of two round trips and one way more.
func TestLinkTakesItsHandshake(t *testing.T) {
	var world strategy.World
	to, opened := strategy.ID(1), time.Duration(0)
	s := script(func(h strategy.Host, _ int, now time.Duration, in strategy.Input) {
		switch in := in.(type) {
		case strategy.Joined:
			h.Wake(now + time.Second)
		case strategy.Woken:
			if h.Self() != 0 {
				return
			}
			for slices.Contains(h.Links(), to) {
				to++
			}
			h.Connect(to)
		case strategy.LinkOpened:
			if h.Self() == to && in.Peer == 0 && now > time.Second {
				opened = now
			}
		}
	})
	s = seeing(s, &world)
	play(t, sim.Config{Strategy: s, Data: simtest.Clusters(t, 40, 4)}, nil)
	least := time.Second + 5*world.Latency(0, to)
	if opened < least || opened > least+50*time.Millisecond {
		t.Errorf("the link is there at %v, want %v and the time on the lines", opened, least)
	}
}

// No topology links two peers twice, nor a peer with itself.
func TestLinksDiffer(t *testing.T) {
	for _, kind := range []sim.Kind{sim.Random, sim.SmallWorld, sim.PowerLaw} {
		pairs := map[[2]strategy.ID]bool{}
		for _, e := range (sim.Topology{Kind: kind, Degree: 8}).Edges(20, rand.New(rand.NewPCG(1, 1))) {
			pair := [2]strategy.ID{min(e[0], e[1]), max(e[0], e[1])}
			if e[0] == e[1] || pairs[pair] {
				t.Errorf("%v: %v again, or of one peer", kind, e)
			}
			pairs[pair] = true
		}
	}
}
