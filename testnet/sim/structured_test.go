package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Kademlia: all is found, within the hops that halving the distance as often as a table's buckets of 20 leave takes; and a
// sweep publishes with fewer bytes than lookups for every key.
func TestKademlia(t *testing.T) {
	const peers, keys = 200, 60
	data := clusters(t, peers, keys)
	upkeep := map[string]float64{}
	for _, all := range []bool{false, true} {
		for _, s := range []strategy.Strategy{strategy.Kademlia, strategy.KademliaClassic} {
			r := run(t, sim.Config{
				Strategy: s, Data: data, Queries: 500, All: all, Seed: 3, Warmup: 40 * time.Second, Asking: 10 * time.Second,
				Patience: 10 * time.Second,
			})
			t.Logf("%+v", r)
			if r.Recall < 0.9999 || r.Wrong != 0 { // nobody leaves, so no record may be out of reach
				t.Errorf("%s: recall %v, %d wrong", s.Name, r.Recall, r.Wrong)
			}
			if most := 2 + math.Log2(peers/20.0); r.Hops > most {
				t.Errorf("%s: %v hops, want at most %v", s.Name, r.Hops, most)
			}
			if all && (r.MessagesPerQuery < 2*20 || r.MessagesPerQuery > 4*20+2*12) {
				t.Errorf("%s: %v messages to ask the 20 nearest and all holders", s.Name, r.MessagesPerQuery)
			}
			upkeep[s.Name] = r.UpkeepBytesPerPeer - r.ConnectBytes
			// 20 records for every key, at least.
			if least := float64(20 * keys * 134); upkeep[s.Name] < least {
				t.Errorf("%s: %v bytes of upkeep, the records are %v", s.Name, upkeep[s.Name], least)
			}
		}
	}
	if upkeep["kademlia"]*2 > upkeep["kademlia-classic"] {
		t.Errorf("upkeep: %v", upkeep)
	}
}

// QRP: everything is found, with less than flooding asks, and hardly a leaf looks in vain.
func TestQRP(t *testing.T) {
	data := clusters(t, 500, 60)
	cfg := sim.Config{
		Strategy: strategy.QRP, Data: data, Queries: 1000, Seed: 3, Warmup: 30 * time.Second, Asking: 10 * time.Second,
	}
	r := run(t, cfg)
	t.Logf("%+v", r)
	if r.Recall < 0.99 || r.Wrong != 0 {
		t.Errorf("recall %v, %d wrong", r.Recall, r.Wrong)
	}
	// A table of 65,536 bits for 60 keys matches one key in a thousand that isn't there, an ultrapeer's with ten leaves one in a
	// hundred; of the 500 peers some 50 are ultrapeers.
	if r.WastedProbesPerQuery > 2 {
		t.Errorf("%v wasted probes", r.WastedProbesPerQuery)
	}
	cfg.Strategy = strategy.Flooding
	if f := run(t, cfg); r.MessagesPerQuery > f.MessagesPerQuery/5 {
		t.Errorf("%v messages, flooding takes %v", r.MessagesPerQuery, f.MessagesPerQuery)
	}
}
