package tracker_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/tracker"
)

// The tracker finds all with two messages to it and two for each holder; without it nothing is found but its own keys.
func TestTracker(t *testing.T) {
	cfg := simtest.Draw(sim.Config{
		Strategy: tracker.Strategy, Data: simtest.Clusters(t, 100, 60), Seed: 3, Warmup: 20 * time.Second, Asking: 20 * time.Second, Patience: 10 * time.Second,
	}, 500)
	if r := simtest.Run(t, cfg); r.Recall < 1 || r.Messages > 4 || r.Wrong > 0 {
		t.Errorf("recall %v with %v messages, %d wrong", r.Recall, r.Messages, r.Wrong)
	}
	cfg.Script.Moves = []sim.Move{{At: 19 * time.Second, Peer: 0, Killed: true}}
	if r := simtest.Run(t, cfg); r.Recall > 0 {
		t.Errorf("recall %v without the tracker", r.Recall)
	}
	cfg.Script.Moves = []sim.Move{{At: time.Second, Peer: 0}, {At: 5 * time.Second, Peer: 0, Online: true}, {At: 10 * time.Second, Peer: strategy.ID(9)}}
	if r := simtest.Run(t, cfg); r.Recall < 1 || r.Wasted > 0 {
		t.Errorf("recall %v after the tracker has come back", r.Recall)
	}
}
