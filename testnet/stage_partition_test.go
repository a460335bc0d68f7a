package testnet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// On both engines the recall over time shows when a network was parted, and that it comes together again. The scenario
// is the guide's for newcomers, in less time. Queries want every holder: of those, half are beyond the partition.
func TestPartitionShows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	for _, by := range []strategy.Strategy{venn.Strategy, flooding.Strategy} {
		t.Run(by.Name, func(t *testing.T) {
			t.Parallel()
			s, err := scenario.Load("scenario/testdata/newcomer.toml")
			if err != nil {
				t.Fatal(err)
			}
			seconds := func(n int) scenario.Duration { return scenario.Duration(n) * scenario.Duration(time.Second) }
			s.Peers, s.All, s.Queries.Number = 16, true, 200
			s.Warmup, s.Asking, s.Patience = seconds(5), seconds(25), seconds(3)
			s.Events[0].At, s.Events[1].At = seconds(10), seconds(20)
			p, err := s.Plan(0)
			if err != nil {
				t.Fatal(err)
			}
			simulated, err := scenario.Simulate(context.Background(), p, by, scenario.SimulateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if fault := parted(t, simulated); fault != "" {
				t.Error(fault)
			}
			fault := "not run"
			for try := 0; try < 3 && fault != ""; try++ { // a busy machine answers late
				r, err := testnet.Stage(context.Background(), p, by, nil)
				if err != nil {
					t.Fatal(err)
				}
				fault = parted(t, r)
			}
			if fault != "" {
				t.Error(fault)
			}
		})
	}
}

// parted says what is wrong if the recall over time does not show that a network is parted from 10 s to 20 s.
func parted(t *testing.T, r *scenario.Run) string {
	at := map[float64]float64{} // by the middle of 5 s
	for _, x := range results.RecallOverTime([]*scenario.Run{r}) {
		at[x.At] = x.Mean.Value
	}
	t.Logf("%s, %s: recall by time: %v", r.Strategy, r.Engine, at)
	before, during, after := at[7.5], max(at[12.5], at[17.5]), at[27.5]
	if before < 0.85 || during > 0.6 || after < during+0.2 {
		return fmt.Sprintf("%s, %s: recall %.2f before the partition, %.2f at most in it, %.2f afterwards", r.Strategy, r.Engine, before, during, after)
	}
	return ""
}
