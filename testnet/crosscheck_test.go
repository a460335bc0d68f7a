package testnet_test

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// The simulator and real hosts play one plan: the same Debian data, three classes of lines, seed and queries. Flooding, whose links both
// engines are given, has the same recall within 0.005, and messages and upkeep within 15 %.
//
// VENN_CROSSCHECK=1 has it check venn's nodes too, which takes another minute and a machine that is not busy.
func TestCrossCheck(t *testing.T) {
	strategies := []strategy.Strategy{strategy.Flooding}
	if os.Getenv("VENN_CROSSCHECK") != "" {
		strategies = append(strategies, strategy.Venn)
	} else if testing.Short() {
		t.Skip("takes a minute")
	}
	for _, by := range strategies {
		s, err := scenario.Load("testdata/crosscheck.toml")
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Plan(0)
		if err != nil {
			t.Fatal(err)
		}
		simulated, err := scenario.Simulate(context.Background(), p, by, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		onHosts, err := testnet.Stage(context.Background(), p, by, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := scenario.Compare(simulated, onHosts)
		t.Logf("%s: recall %.4f simulated, %.4f on real hosts", by.Name, a.Recall[0], a.Recall[1])
		if math.Abs(a.Recall[0]-a.Recall[1]) > 0.005 {
			t.Errorf("%s: recall %.4f simulated, %.4f on real hosts", by.Name, a.Recall[0], a.Recall[1])
		}
		for _, r := range a.Ratios {
			t.Logf("%s: %s: %.2f simulated, %.2f on real hosts, %+.1f %%", by.Name, r.Name, r.Simulated, r.Real, 100*r.Apart())
			if r.Name != "bytes a query" && math.Abs(r.Apart()) > 0.15 {
				t.Errorf("%s: %s: %.2f simulated, %.2f on real hosts", by.Name, r.Name, r.Simulated, r.Real)
			}
		}
	}
}
