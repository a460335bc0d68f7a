package kademlia_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/kademlia"
)

// Kademlia finds everything, within the number of halvings of the distance that a table's buckets of 20 leave. A sweep
// publishes with fewer bytes than a lookup for every key.
func TestKademlia(t *testing.T) {
	const peers, keys = 200, 60
	data := simtest.Clusters(t, peers, keys)
	upkeep := map[string]float64{}
	for _, all := range []bool{false, true} {
		for _, s := range []strategy.Strategy{kademlia.Strategy, kademlia.Classic} {
			r := simtest.Run(t, simtest.Draw(sim.Config{
				Strategy: s, Data: data, All: all, Seed: 3, Warmup: 40 * time.Second, Asking: 10 * time.Second,
				Patience: 10 * time.Second,
			}, 500))
			t.Logf("%+v", r)
			if r.Recall < 0.9999 || r.Wrong != 0 { // nobody leaves, so no record may be out of reach
				t.Errorf("%s: recall %v, %d wrong", s.Name, r.Recall, r.Wrong)
			}
			if most := 2 + math.Log2(peers/20.0); r.Hops > most {
				t.Errorf("%s: %v hops, want at most %v", s.Name, r.Hops, most)
			}
			if all && (r.Messages < 2*20 || r.Messages > 4*20+2*12) {
				t.Errorf("%s: %v messages to ask the 20 nearest and all holders", s.Name, r.Messages)
			}
			upkeep[s.Name] = r.Upkeep - r.Connect
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

// Provider records outlive the session of the peer that keeps them, as they do on disk: after all others have come back a
// holder that has published once is found. Few pairs dial each other at the start.
func TestKademliaKeepsRecords(t *testing.T) {
	const peers, keys = 60, 10
	data := simtest.Clusters(t, peers, keys)
	var script sim.Script
	for p := range strategy.ID(peers) { // all but five holders restart, one after the other, after they have published
		if p < 5 {
			continue
		}
		at := 30*time.Second + time.Duration(p)*100*time.Millisecond
		script.Moves = append(script.Moves, sim.Move{At: at, Peer: p}, sim.Move{At: at + 50*time.Millisecond, Peer: p, Online: true})
	}
	for p := range strategy.ID(5) {
		for i, k := range data.Collection(p) {
			asker := strategy.ID(5 + (int(p)*keys+i)%(peers-5))
			if len(data.Holders(k)) == 1 {
				script.Asks = append(script.Asks, sim.Ask{At: 36100 * time.Millisecond, Peer: asker, Key: k})
			}
		}
	}
	r := simtest.Run(t, sim.Config{Strategy: kademlia.Strategy, Data: data, Script: script, Seed: 3, Warmup: 36 * time.Second, Asking: time.Second, Patience: 10 * time.Second})
	t.Logf("%d queries, recall %v", len(r.Queries), r.Recall)
	if len(r.Queries) < 5 || r.Recall < 1 {
		t.Errorf("recall %v of %d queries: the holders have published once and stayed", r.Recall, len(r.Queries))
	}
	dials := simtest.Run(t, sim.Config{Strategy: kademlia.Strategy, Data: data, Seed: 3, Warmup: 36 * time.Second, Asking: time.Second, Patience: time.Second})
	if pairs := float64(peers * (peers - 1) / 2); dials.Connect*peers/(2*sim.HandshakeBytes) > 1.1*pairs {
		t.Errorf("%.0f dials for %.0f pairs", dials.Connect*peers/(2*sim.HandshakeBytes), pairs)
	}
}

// Kademlia numbers its lookups from 1 in every session, so an answer to an earlier one would be taken for that of a
// later.
func TestKademliaRestartsOften(t *testing.T) {
	r := simtest.Run(t, simtest.Draw(sim.Config{
		Strategy: kademlia.Strategy, Data: simtest.Clusters(t, 150, 30),
		Seed: 1, Warmup: 10 * time.Second,
	}, 500, sim.Churn{Median: 5 * time.Second, Away: time.Second}))
	t.Logf("%+v", r)
	if r.Recall < 0.9 { // half of all sessions are shorter than 5 s
		t.Errorf("recall %v", r.Recall)
	}
}
