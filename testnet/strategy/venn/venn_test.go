package venn_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

func TestVenn(t *testing.T) {
	for _, all := range []bool{false, true} {
		r := simtest.Run(t, simtest.Draw(sim.Config{
			Strategy: venn.Strategy, Data: simtest.Clusters(t, 80, 200), All: all, Seed: 3, Warmup: 30 * time.Second,
			Asking: 20 * time.Second, Patience: 10 * time.Second,
		}, 500))
		t.Logf("%+v", r)
		if r.Recall < 0.99 || r.Wrong != 0 || !all && r.Messages > 4 {
			t.Errorf("recall %v, %d wrong, %.2f messages", r.Recall, r.Wrong, r.Messages)
		}
	}
}

// A peer that knows only a part of the peers, because upkeep or room is short, finds keys by forwarding.
func TestVennForwards(t *testing.T) {
	if testing.Short() {
		t.Skip("lets 150 peers learn of each other twice")
	}
	data := simtest.Clusters(t, 150, 100)
	for name, x := range map[string]float64{"upkeep": 500, "origins": 30} {
		r := simtest.Run(t, simtest.Draw(sim.Config{Strategy: venn.Strategy, Params: strategy.Params{Values: map[string]float64{name: x}}, Data: data, Seed: 3, Warmup: 30 * time.Second, Asking: 20 * time.Second}, 300))
		t.Logf("%s: recall %v, %.2f hops, %.0f bytes of upkeep", name, r.Recall, r.Hops, r.Upkeep)
		if r.Recall < 0.9 || r.Hops <= 1 {
			t.Errorf("%s: recall %v over %.2f hops", name, r.Recall, r.Hops)
		}
		limit := 500*r.Virtual + exchange.Burst(500)
		if spent := float64(budgeted(r)) / 150; name == "upkeep" && spent > limit {
			t.Errorf("upkeep of %.0f bytes a peer, allowed %.0f", spent, limit)
		}
	}
}

// What is sent for searches counts as that and not as upkeep, at whichever peer and however late it is sent.
func TestSearchesAreNoUpkeep(t *testing.T) {
	r := simtest.Run(t, simtest.Draw(sim.Config{
		Strategy: venn.Strategy, Data: simtest.Clusters(t, 100, 40), All: true, Loss: 0.05,
		Warmup: 5 * time.Second, Asking: 10 * time.Second, Params: strategy.Params{Values: map[string]float64{"origins": 12}},
	}, 150))
	if r.Messages < 20 {
		t.Errorf("%v messages a query: none had to be forwarded", r.Messages)
	}
	for _, k := range r.Kinds {
		switch k.Name {
		case "haveask", "haveanswer", "ask", "names":
			t.Errorf("%d messages of kind %s, %d bytes, are said to be upkeep", k.Messages, k.Name, k.Bytes)
		}
	}
}

// budgeted is what all peers sent that counts against budgets: not connections, audits, and the framing of messages.
func budgeted(r simtest.Report) (bytes int64) {
	for _, k := range r.Kinds {
		if k.Name != "connect" && k.Name != "auditask" && k.Name != "auditanswer" {
			bytes += k.Bytes - k.Messages*strategy.Overhead
		}
	}
	return bytes
}

// A holder that is found through several peers is as many hops away: with few origins known, and no contacts yet, more
// than two.
func TestVennCountsAllHops(t *testing.T) {
	var trace bytes.Buffer
	r := simtest.Run(t, simtest.Draw(sim.Config{
		Strategy: venn.Strategy, Params: strategy.Params{Values: map[string]float64{"origins": 4}}, Data: simtest.Clusters(t, 200, 30), Seed: 3,
		Warmup: 500 * time.Millisecond, Asking: 10 * time.Second, Patience: 10 * time.Second, Trace: &trace,
	}, 300))
	most := uint32(0)
	for r := range sim.Records(&trace) {
		if r.What() == "finds" {
			most = max(most, r.Bytes)
		}
	}
	if t.Logf("%v hops on average, at most %d", r.Hops, most); r.Hops <= 1 || most <= 2 || most > 8 {
		t.Errorf("%v hops on average, at most %d", r.Hops, most)
	}
}
