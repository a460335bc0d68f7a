package swim_test

import (
	"math"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
	"github.com/venn-p2p/venn/testnet/strategy/swim"
)

// Everybody has all lists in time, changed ones too, and asks holders alone.
func TestSwim(t *testing.T) {
	const peers, keys = 100, 60
	data := simtest.Clusters(t, peers, keys)
	var changes []sim.Change
	for p := range strategy.ID(peers) {
		changes = append(changes, sim.Change{At: 40 * time.Second, Peer: p, Key: data.Collection(p)[3]})
	}
	r := simtest.Run(t, simtest.Draw(sim.Config{
		Strategy: swim.Strategy, Data: data, All: true, Seed: 3, Warmup: 2 * time.Minute, Asking: 20 * time.Second, Patience: 10 * time.Second,
		Script: sim.Script{Changes: changes},
	}, 1000))
	t.Logf("%+v", r)
	if r.Recall < 0.9999 || r.Wrong != 0 || r.Wasted > 0.001 || r.Lines[0].Covers < 1 {
		t.Errorf("recall %v, %d wrong, %v wasted probes, %v covered", r.Recall, r.Wrong, r.Wasted, r.Lines[0].Covers)
	}
}

// The paper: at least one of n-1 peers pings a dead one in a protocol period with probability 1-(1-1/(n-1))^(n-1), which
// is 1-1/e = .63 for large n.
func TestSwimDetection(t *testing.T) {
	const peers, runs = 40, 300
	const killed = 20 * time.Second
	data := simtest.Clusters(t, peers, 2)
	detected := 0
	for seed := range uint64(runs) {
		pinged := false
		s := swim.Strategy
		open := s.Open
		s.Open = func(w strategy.World) (strategy.Factory, error) {
			factory, err := open(w)
			return func(h strategy.Host) strategy.Peer { return watched{factory(h), &pinged} }, err
		}
		simtest.Run(t, sim.Config{
			Strategy: s, Data: data, Seed: seed, Warmup: killed, Asking: time.Millisecond, Patience: 5 * time.Second, Least: time.Millisecond,
			Script: sim.Script{Moves: []sim.Move{{At: killed, Peer: 7, Killed: true}}},
		})
		if pinged {
			detected++
		}
	}
	want := 1 - math.Pow(1-1/float64(peers-1), peers-1)
	got, sd := float64(detected)/runs, math.Sqrt(want*(1-want)/runs)
	if math.Abs(got-want) > 3*sd {
		t.Errorf("a killed peer was pinged within a period in a share of %.3f of the runs, want %.3f", got, want)
	}
}

// watched notes that a message to peer 7 sent within a period of its end has failed.
type watched struct {
	strategy.Peer
	pinged *bool
}

func (w watched) Step(now time.Duration, in strategy.Input) {
	if f, is := in.(strategy.Failed); is && f.To == 7 && now < 20*time.Second+links.GiveUp+time.Second {
		*w.pinged = true
	}
	w.Peer.Step(now, in)
}
