// Package simtest runs the simulator in tests of strategies.
package simtest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Clusters returns collections of a number of peers, each with keys keys. The peers have interests in common.
func Clusters(t testing.TB, peers, keys int) *sim.Data {
	t.Helper()
	d, err := sim.NewClusters(sim.Clusters{Peers: peers, Keys: keys}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Draw adds a script to a run, like that of a scenario. Peers come and go, and ask the given number of queries by
// interest, evenly spread over Config.Asking. Unless Config.Latency is set, latencies are 10 to 69 ms.
func Draw(cfg sim.Config, queries int, churn ...sim.Churn) sim.Config {
	if cfg.Latency == nil {
		cfg.Latency = func(a, b strategy.ID) time.Duration {
			return time.Duration(10+strategy.Scramble(uint64(min(a, b))<<32|uint64(max(a, b)))%60) * time.Millisecond
		}
	}
	peers, asking := cfg.Data.Peers(), cmp.Or(cfg.Asking, time.Minute)
	end := cfg.Warmup + asking + cmp.Or(cfg.Patience, 30*time.Second)
	for _, c := range churn {
		cfg.Script.Moves = sim.Moves(c.Sessions(peers, end, strategy.Random(cfg.Seed, "simtest: sessions", 0)), end)
	}
	there := slices.Repeat([]bool{true}, peers)
	online := func(p strategy.ID) bool { return there[p] }
	rng, moves := strategy.Random(cfg.Seed, "simtest: queries", 0), cfg.Script.Moves
	drawer := holdings.Drawer[strategy.ID]{Rule: holdings.Interest, Held: holdings.NewNow(cfg.Data.Table), Alike: cfg.Data.Alike}
	for i := range queries {
		at := cfg.Warmup + time.Duration(float64(asking)*float64(i)/float64(queries))
		for ; len(moves) > 0 && moves[0].At <= at; moves = moves[1:] {
			there[moves[0].Peer] = moves[0].Online
		}
		if p, key, drawn := drawer.Query(cfg.Data.Keys(), rng, online, online); drawn {
			cfg.Script.Asks = append(cfg.Script.Asks, sim.Ask{At: at, Peer: p, Key: key})
		}
	}
	return cfg
}

// Report is the result of a run, with figures computed from its queries.
type Report struct {
	*sim.Report
	Answered       int     // queries that found a holder
	Recall         float64 // holders found ÷ holders findable when the query began
	Probes, Wasted float64 // means over queries
	Hops           float64 // mean hops to the first holder found, over the answered queries
	Latency        float64 // median time until then, ms
	Upkeep         float64 // mean bytes that a peer sent for upkeep, handshakes included
}

// Run runs to the end.
func Run(t testing.TB, cfg sim.Config) Report {
	t.Helper()
	s, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return Of(r)
}

// Of returns a report with the figures computed from its queries.
func Of(r *sim.Report) Report {
	out := Report{Report: r, Recall: RecallBetween(r, 0, math.MaxInt64)}
	var latencies []float64
	n := float64(max(1, len(r.Queries)))
	for _, q := range r.Queries {
		out.Probes, out.Wasted = out.Probes+float64(q.Probes)/n, out.Wasted+float64(q.Wasted)/n
		if q.Latency >= 0 {
			out.Answered++
			out.Hops += float64(q.Hops)
			latencies = append(latencies, q.Latency)
		}
	}
	out.Hops /= float64(max(1, out.Answered))
	if slices.Sort(latencies); out.Answered > 0 {
		out.Latency = latencies[(out.Answered-1)/2]
	}
	for _, k := range r.Kinds {
		out.Upkeep += float64(k.Bytes) / float64(r.Peers)
	}
	return out
}

// Asks returns n queries, evenly spread. The peers ask by turns, each for a key of another peer.
func Asks(d *sim.Data, n int, from, every time.Duration) (out []sim.Ask) {
	for i := range n {
		p, of := strategy.ID(i%d.Peers()), strategy.ID((7*i+3)%d.Peers())
		keys := slices.DeleteFunc(slices.Clone(d.Collection(of)), func(k uint32) bool { return d.Holds(p, k) })
		if len(keys) > 0 {
			out = append(out, sim.Ask{At: from + time.Duration(i)*every, Peer: p, Key: keys[i%len(keys)]})
		}
	}
	return out
}

// RecallBetween returns the recall of the queries that began from one instant up to another.
func RecallBetween(r *sim.Report, from, to time.Duration) float64 {
	found, findable := 0, 0
	for _, q := range r.Queries {
		if q.At >= from.Seconds() && q.At < to.Seconds() {
			found, findable = found+q.Found, findable+q.Findable
		}
	}
	return float64(found) / float64(max(1, findable))
}
