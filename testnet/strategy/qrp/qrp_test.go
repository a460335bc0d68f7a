package qrp_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/qrp"
)

// QRP: everything is found, with less than flooding asks, and hardly a leaf looks in vain.
func TestQRP(t *testing.T) {
	data := simtest.Clusters(t, 500, 60)
	cfg := simtest.Draw(sim.Config{
		Strategy: qrp.Strategy, Data: data, Seed: 3, Warmup: 30 * time.Second, Asking: 10 * time.Second,
	}, 1000)
	r := simtest.Run(t, cfg)
	t.Logf("%+v", r)
	if r.Recall < 0.99 || r.Wrong != 0 {
		t.Errorf("recall %v, %d wrong", r.Recall, r.Wrong)
	}
	// A table of 65,536 bits for 60 keys matches one absent key in a thousand. An ultrapeer's with ten leaves matches
	// one in a hundred. Some 50 of the 500 peers are ultrapeers.
	if r.Wasted > 2 {
		t.Errorf("%v wasted probes", r.Wasted)
	}
	cfg.Strategy = flooding.Strategy
	if f := simtest.Run(t, cfg); r.Messages > f.Messages/5 {
		t.Errorf("%v messages, flooding takes %v", r.Messages, f.Messages)
	}
}
