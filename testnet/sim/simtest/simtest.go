// Package simtest runs the simulator in tests of strategies.
package simtest

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Clusters are collections of peers peers, with keys keys each, that have interests in common.
func Clusters(t testing.TB, peers, keys int) *sim.Data {
	t.Helper()
	d, err := sim.NewClusters(sim.Clusters{Peers: peers, Keys: keys}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Run runs to the end.
func Run(t testing.TB, cfg sim.Config) *sim.Report {
	t.Helper()
	s, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Asks has peers ask for keys of peers by turns, evenly spread.
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

// RecallBetween is that of the queries begun from one instant to another.
func RecallBetween(d *sim.Detail, from, to time.Duration) float64 {
	found, all := 0, 0
	for _, q := range d.Queries {
		if q.At >= from && q.At < to {
			found, all = found+q.Found, all+1
		}
	}
	return float64(found) / float64(max(1, all))
}
