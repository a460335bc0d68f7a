package results

import (
	"testing"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
)

// TestAhead: a strategy is ahead by a recall that is higher in every trial, or by messages and upkeep at the same
// recall; one of the two costs is not enough, nor is less recall, if in some trials only.
func TestAhead(t *testing.T) {
	run := func(strategy string, trial int, found int, messages float64, bytes uint64) *scenario.Run {
		return &scenario.Run{
			Strategy: strategy, Scenario: "?", Engine: scenario.Simulated, Trial: trial, Seed: uint64(trial), Report: sim.Report{
				Peers: 10, Messages: messages, Queries: []sim.Query{{Findable: 100, Found: found + trial}},
				Seconds: []sim.Second{{At: 70, Upkeep: int64(bytes), Online: 10}},
			},
		}
	}
	s := parse(t, "question=\"?\"\npeers=10\nrows=\"trials\"\nstrategies=[\"venn\",\"flooding\",\"qrp\",\"kademlia\",\"swim\",\"tracker\"]\n")
	r := Result{Scenarios: []*scenario.Scenario{s}}
	for trial := range 3 {
		r.Runs = append(
			r.Runs,
			run("venn", trial, 90, 5, 1000),
			run("flooding", trial, 95, 500, 100),
			run("qrp", trial, 90, 4, 900),
			run("kademlia", trial, 90, 4, 1100),
			run("swim", trial, 80, 1, 1),
			run("tracker", trial, 90-30*trial, 1, 1),
		)
	}
	for _, run := range r.Runs {
		run.Scenario = s.Name
	}
	r.Sum()
	got := map[string]string{}
	for _, a := range r.groups()[0].ahead() {
		got[a.Strategy] = a.By
	}
	if len(got) != 2 || got["flooding"] != "recall" || got["qrp"] != "cost" {
		t.Errorf("%v", got)
	}
}
