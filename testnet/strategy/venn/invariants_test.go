package venn

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// checked is a peer whose machine is held to its invariants after every step.
type checked struct {
	*node
	t     testing.TB
	tails *atomic.Int64 // of others, that peers had when they were checked
}

const invariantPeers = 24

func (c *checked) Step(now time.Duration, in strategy.Input) {
	c.node.Step(now, in)
	if c.machine == nil {
		return
	}
	for i := range strategy.ID(invariantPeers) {
		if number, _, _ := c.machine.Tails.State(peerID(i)); i != c.host.Self() && number > 0 {
			c.tails.Add(1)
		}
	}
	if err := c.machine.Check(); err != nil {
		c.t.Errorf("peer %d at %v, after %T: %v", c.host.Self(), now, in, err)
	}
}

// TestInvariants: overlay and tails keep to their invariants together, while peers come, go and change their keys.
func TestInvariants(t *testing.T) {
	var tails atomic.Int64
	s := Strategy
	s.Open = func(w strategy.World) (strategy.Factory, error) {
		made, err := Strategy.Open(w)
		return func(h strategy.Host) strategy.Peer { return &checked{node: made(h).(*node), t: t, tails: &tails} }, err
	}
	data := simtest.Clusters(t, invariantPeers, 60)
	script := sim.Script{Asks: simtest.Asks(data, 50, 30*time.Second, time.Second)}
	for i := range 60 {
		at, p := 20*time.Second+time.Duration(i)*time.Second, strategy.ID(i%invariantPeers)
		script.Changes = append(script.Changes, sim.Change{At: at, Peer: p, Key: uint32(i * data.Keys() / 60), Held: i%3 > 0})
	}
	simtest.Run(t, simtest.Draw(sim.Config{
		Strategy: s, Data: data, Warmup: 20 * time.Second, Asking: 70 * time.Second, Script: script,
	}, 0, sim.Churn{Median: time.Minute, Away: 10 * time.Second}))
	if tails.Load() == 0 {
		t.Error("no peer had tails of others when it was checked")
	}
}
