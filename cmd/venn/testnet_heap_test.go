package main

import (
	"testing"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// TestScenarioHeap: the heap may double where a scenario's own peers are many, or send by slow lines alone.
func TestScenarioHeap(t *testing.T) {
	for text, want := range map[string]int{
		"peers=20\n":  20,
		"peers=400\n": 100,
		"peers=20\n[[lines]]\nname=\"slow\"\nup=\"256kbit\"\ndown=\"10mbit\"\n":                                                          100,
		"peers=20\n[[lines]]\nname=\"slow\"\nup=\"256kbit\"\ndown=\"1mbit\"\n[[lines]]\nname=\"fast\"\nup=\"10mbit\"\ndown=\"10mbit\"\n": 20,
	} {
		s := must(scenario.Parse("test.toml", "question=\"?\"\n"+text))
		plan := must(s.Plan(0))
		if got := scenarioPercent(plan); got != want {
			t.Errorf("%s: the heap grows by %d %%, want %d", text, got, want)
		}
	}
}
