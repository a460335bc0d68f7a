package sim_test

import (
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
