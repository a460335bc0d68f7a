package randomwalk_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/randomwalk"
)

// Lv et al. 2002, its theory of replication: a walk by chance visits n/r peers until it finds one of r copies among n
// peers. 32 walkers that take a step at the same time find one after s steps with the probability 1-(1-r/n)^(32 s).
// In a network in which all are linked, each step draws a peer from all.
func TestWalkLength(t *testing.T) {
	const peers, walkers, keys, asks = 256, 32, 100, 4
	const every = 50 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 2))
	var script sim.Script
	var fingerprints []summary.Fingerprint
	collections := make([][]uint32, peers)
	copies := map[uint32]int{}
	for _, r := range []int{1, 4, 16} {
		for range keys {
			key, order := uint32(len(fingerprints)), rng.Perm(peers)
			fingerprints = append(fingerprints, summary.Fingerprint(rng.Uint64()))
			copies[key] = r
			for _, p := range order[:r] {
				collections[p] = append(collections[p], key)
			}
			for _, p := range order[r : r+asks] {
				at := 5*time.Second + time.Duration(len(script.Asks))*every
				script.Asks = append(script.Asks, sim.Ask{At: at, Peer: strategy.ID(p), Key: key})
			}
		}
	}
	data, err := sim.NewData(fingerprints, collections)
	if err != nil {
		t.Fatal(err)
	}
	r := simtest.Run(t, sim.Config{
		Strategy: randomwalk.Strategy, Data: data, Script: script, Seed: 3, Topology: sim.Topology{Degree: 8 * peers},
		Warmup: 5 * time.Second, Asking: time.Duration(len(script.Asks)) * every, Patience: 30 * time.Second,
		Latency: func(strategy.ID, strategy.ID) time.Duration { return 10 * time.Millisecond },
	})
	steps, n := map[int]float64{}, map[int]float64{}
	for _, q := range r.Queries {
		if q.Found == 0 {
			t.Errorf("key %d was not found", q.Key)
		}
		steps[copies[q.Key]] += float64(q.Hops)
		n[copies[q.Key]]++
	}
	for copies, asked := range n {
		finds := 1 - math.Pow(1-float64(copies)/(peers-1), walkers) // in a step
		want, sd := 1/finds, math.Sqrt(1-finds)/finds/math.Sqrt(asked)
		got := steps[copies] / asked
		t.Logf("%d copies: found after %.3f steps of %d walkers, want %.3f ± %.3f", copies, got, walkers, want, sd)
		if asked != keys*asks || math.Abs(got-want) > 3*sd {
			t.Errorf("%d copies: found after %.3f steps in %.0f queries, want %.3f", copies, got, asked, want)
		}
	}
}
