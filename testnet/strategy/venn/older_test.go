package venn

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// TestOlderWaitsForNobody: the machine of a peer of the version before does not wait for answers to inquiries that are
// never sent. It wants to ask the same peers again.
func TestOlderWaitsForNobody(t *testing.T) {
	var all []*node
	older := Strategy
	older.Open = func(w strategy.World) (strategy.Factory, error) {
		made, err := Strategy.Open(w)
		return func(h strategy.Host) strategy.Peer {
			p := Strategy.Older(made(h))
			all = append(all, p.(*node))
			return p
		}, err
	}
	simtest.Run(t, sim.Config{
		Strategy: older, Data: simtest.Clusters(t, 40, 60), Warmup: time.Minute, Asking: time.Second, Params: strategy.Params{Values: map[string]float64{"origins": 10}},
	})
	want := event.ContactsWanted{Search: 1, Ask: 100}
	asked := 0
	for i, v := range all {
		before := 0
		for _, e := range v.machine.Step(v.now, want) {
			if _, ok := e.(event.Ask); ok {
				before++
			}
			v.do(v.now, e)
		}
		v.step(v.now, want)
		after := 0
		for _, e := range v.machine.Step(v.now, want) {
			if _, ok := e.(event.Ask); ok {
				after++
			}
		}
		if after != before {
			t.Errorf("peer %d wants to ask %d peers, and then %d", i, before, after)
		}
		asked += before
	}
	if len(all) != 40 || asked == 0 {
		t.Errorf("%d peers of the version before want to ask %d times", len(all), asked)
	}
}
