package attenuated_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/attenuated"
)

// Attenuated filters of either kind: what lies within their reach is found at once, at far fewer messages than a walk
// by chance takes.
func TestAttenuated(t *testing.T) {
	data := simtest.Clusters(t, 400, 60)
	for _, s := range []strategy.Strategy{attenuated.Strategy, attenuated.Papapetrou} {
		r := simtest.Run(t, simtest.Draw(sim.Config{
			Strategy: s, Data: data, Seed: 3, Warmup: 30 * time.Second, Asking: 20 * time.Second, Patience: 10 * time.Second,
		}, 1000))
		t.Logf("%+v", r)
		if r.Recall < 0.98 || r.Wrong != 0 || r.Messages > 10 {
			t.Errorf("%s: recall %v, %d wrong, %v messages", s.Name, r.Recall, r.Wrong, r.Messages)
		}
		// Each of eight links carries three levels of at most 640 bits a key, with records and the changes on the way.
		if most := 8 * 3 * 640 * 60 / 8.0 * 1.5; r.Upkeep-r.Connect > most {
			t.Errorf("%s: %v bytes of upkeep, want at most %v", s.Name, r.Upkeep-r.Connect, most)
		}
	}
}
