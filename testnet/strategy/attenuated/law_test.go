package attenuated_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/attenuated"
)

// Rhea and Kubiatowicz 2002: filters of depth d lead a query to a document within d hops over a shortest path, unless a
// filter matches by chance. A key beyond that is found by chance alone.
func TestShortestPaths(t *testing.T) {
	const peers, keys, depth = 200, 10, 3
	rng := rand.New(rand.NewPCG(1, 2))
	var fingerprints []summary.Fingerprint
	var script sim.Script
	collections := make([][]uint32, peers)
	for p := range collections {
		for range keys {
			key := uint32(len(fingerprints))
			fingerprints, collections[p] = append(fingerprints, summary.Fingerprint(rng.Uint64())), append(collections[p], key)
			if asker := rng.IntN(peers); asker != p {
				at := 30*time.Second + time.Duration(len(script.Asks))*10*time.Millisecond
				script.Asks = append(script.Asks, sim.Ask{At: at, Peer: strategy.ID(asker), Key: key})
			}
		}
	}
	data, err := sim.NewData(fingerprints, collections)
	if err != nil {
		t.Fatal(err)
	}
	s, links := attenuated.Strategy, map[int]map[int]bool{}
	var mu sync.Mutex
	s.Open = func(w strategy.World) (strategy.Factory, error) {
		factory, err := attenuated.Strategy.Open(w)
		return func(h strategy.Host) strategy.Peer {
			return linked{factory(h), func(p strategy.ID) {
				mu.Lock()
				defer mu.Unlock()
				if links[int(h.Self())] == nil {
					links[int(h.Self())] = map[int]bool{}
				}
				links[int(h.Self())][int(p)] = true
			}}
		}, err
	}
	r := simtest.Run(t, sim.Config{
		Strategy: s, Data: data, Script: script, Seed: 3, Topology: sim.Topology{Degree: 4},
		Warmup: 30 * time.Second, Asking: 20 * time.Second, Patience: 10 * time.Second,
	})
	near, shortest := 0, 0
	for _, q := range r.Queries {
		if far := distance(links, q.Asker, int(q.Key)/keys); far <= depth {
			if near++; q.Hops == far {
				shortest++
			}
		}
	}
	t.Logf("%d of %d keys within %d hops were found over a shortest path", shortest, near, depth)
	if near < 200 || float64(shortest) < 0.99*float64(near) {
		t.Errorf("%d of %d keys within %d hops were found over a shortest path", shortest, near, depth)
	}
}

// linked tells of the links that a peer gets.
type linked struct {
	strategy.Peer
	opened func(strategy.ID)
}

func (l linked) Step(now time.Duration, in strategy.Input) {
	if o, is := in.(strategy.LinkOpened); is {
		l.opened(o.Peer)
	}
	l.Peer.Step(now, in)
}

// distance returns the number of links on a shortest path.
func distance(links map[int]map[int]bool, from, to int) int {
	far := map[int]int{from: 0}
	for next := []int{from}; len(next) > 0; next = next[1:] {
		for p := range links[next[0]] {
			if _, known := far[p]; !known {
				far[p] = far[next[0]] + 1
				next = append(next, p)
			}
		}
	}
	if d, known := far[to]; known {
		return d
	}
	return len(links)
}
