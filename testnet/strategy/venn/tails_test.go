package venn_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// A key that a peer has taken in is found within two seconds, and no epoch is made for it: tails tell of it. The
// version before, which knows no tails, makes epochs.
func TestTails(t *testing.T) {
	data := simtest.Clusters(t, 40, 60)
	before := venn.Strategy
	before.Name, before.Open = "venn without tails", func(w strategy.World) (strategy.Factory, error) {
		made, err := venn.Strategy.Open(w)
		return func(h strategy.Host) strategy.Peer { return venn.Strategy.Older(made(h)) }, err
	}
	script := sim.Script{}
	for i := range 30 {
		at, p := 60*time.Second+time.Duration(i)*time.Second, strategy.ID(i)
		key := uint32(i * data.Keys() / 30)
		for _, h := range data.Holders(key) { // it is new to all
			script.Changes = append(script.Changes, sim.Change{Peer: h, Key: key})
		}
		script.Changes = append(script.Changes, sim.Change{At: at, Peer: 39, Key: key, Held: true})
		script.Asks = append(script.Asks, sim.Ask{At: at + 2*time.Second, Peer: p, Key: key})
	}
	slices.SortStableFunc(script.Changes, func(a, b sim.Change) int { return int(a.At - b.At) })
	recall, parts := map[string]float64{}, map[string]int64{}
	for _, s := range []strategy.Strategy{venn.Strategy, before} {
		r := simtest.Run(t, sim.Config{Strategy: s, Data: data, Asking: 60 * time.Second, Warmup: 40 * time.Second, Patience: time.Second, Script: script})
		recall[s.Name] = simtest.RecallBetween(r.Report, 0, time.Hour)
		said := false
		for _, k := range r.Kinds {
			said = said || k.Name == "tailitems"
			if k.Name == "parts" {
				parts[s.Name] = k.Messages
			}
		}
		if said != (s.Name == venn.Strategy.Name) {
			t.Errorf("%s: tails: %v", s.Name, said)
		}
	}
	t.Logf("recall %v, messages with parts of epochs %v", recall, parts)
	if recall["venn"] < 0.95 || parts["venn"] > parts[before.Name]*9/10 {
		t.Errorf("recall %v, messages with parts of epochs %v", recall, parts)
	}
}

// A peer that hears of another's goodbye does not ask it any more. A peer that is killed says nothing.
func TestGoodbye(t *testing.T) {
	data := simtest.Clusters(t, 40, 60)
	bounced := map[bool]int{}
	for _, killed := range []bool{false, true} {
		script := sim.Script{Asks: simtest.Asks(data, 400, 60500*time.Millisecond, 5*time.Millisecond)}
		for p := range strategy.ID(20) {
			script.Moves = append(script.Moves, sim.Move{At: 60 * time.Second, Peer: 2 * p, Killed: killed})
		}
		var trace bytes.Buffer
		r := simtest.Run(t, sim.Config{
			Strategy: venn.Strategy, Data: data, Warmup: 60 * time.Second, Asking: 25 * time.Second, All: true, Script: script, Trace: &trace,
		})
		for r := range sim.Records(&trace) {
			if r.What() == "not delivered" && r.Query != 0 {
				bounced[killed]++
			}
		}
		t.Logf("killed %v: recall %.3f, %.2f messages a query, %d not delivered", killed, r.Recall, r.Messages, bounced[killed])
	}
	if bounced[false]*4 > bounced[true]*3 {
		t.Errorf("%d messages of queries not delivered after goodbyes, %d without", bounced[false], bounced[true])
	}
}
