package testnet_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/attenuated"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// The simulator and real hosts play one plan: the same Debian data, three classes of lines, seed and queries. Recall is
// within 0.005, messages and upkeep within 15 %, in every run that counts (Judge). Latencies are within 30 % where the whole is played, which wants a
// machine with nothing else to do; else they are only told.
//
// VENN_CROSSCHECK=1 has it play the whole of testdata/crosscheck.toml, which takes 50 s for each strategy; else it plays
// the first 22 s of 20 peers. `venn testnet --scenario testnet/testdata/crosscheck.toml --against-simulator` prints the same, with the
// kinds of messages.
func TestCrossCheck(t *testing.T) {
	long := os.Getenv("VENN_CROSSCHECK") != ""
	if testing.Short() && !long {
		t.Skip("takes 25 s")
	}
	if !long {
		t.Parallel()
	}
	tests := map[string]func(*testing.T){}
	for _, by := range []strategy.Strategy{flooding.Strategy, attenuated.Strategy, venn.Strategy} {
		s, err := scenario.Load("testdata/crosscheck.toml")
		if err != nil {
			t.Fatal(err)
		}
		if !long {
			s.Peers, s.Queries.Number = 20, 100
			s.Warmup, s.Asking = scenario.Duration(10*time.Second), scenario.Duration(8*time.Second)
			s.Patience = scenario.Duration(4 * time.Second)
		}
		if test := func(t *testing.T) { crossCheck(t, s, by, long) }; long {
			t.Run(by.Name, test)
		} else {
			tests[by.Name] = test
		}
	}
	together(t, tests)
}

// crossCheck holds runs of real hosts to what the simulator says: three where the whole is played, else one.
func crossCheck(t *testing.T, s *scenario.Scenario, by strategy.Strategy, long bool) {
	p, err := s.Plan(0)
	if err != nil {
		t.Fatal(err)
	}
	simulated, err := scenario.Simulate(context.Background(), p, by, scenario.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runs := 1
	if long {
		runs = 3
	}
	for range runs {
		testnet.Judge(t, func() string {
			onHosts, err := testnet.Stage(context.Background(), p, by, nil)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(compared(t, by.Name, simulated, onHosts, long), "; ")
		})
	}
}

// compared logs what two runs show, and returns what of it is too far apart.
func compared(t *testing.T, name string, simulated, onHosts *scenario.Run, latencies bool) (apart []string) {
	for _, r := range []*scenario.Run{simulated, onHosts} {
		for _, k := range r.Kinds {
			t.Logf("%s, %s: %s: %d messages, %d bytes of upkeep a peer", name, r.Engine, k.Name, k.Messages/int64(r.Peers), k.Bytes/int64(r.Peers))
		}
	}
	a := results.Engines(simulated, onHosts)
	t.Logf("%s: recall %.4f simulated, %.4f on real hosts", name, a.Recall[0], a.Recall[1])
	if math.Abs(a.Recall[0]-a.Recall[1]) > 0.005 {
		apart = append(apart, fmt.Sprintf("recall %.4f simulated, %.4f on real hosts", a.Recall[0], a.Recall[1]))
	}
	for _, r := range a.Ratios {
		t.Logf("%s: %s: %.2f simulated, %.2f on real hosts, %+.1f %%", name, r.Name, r.Simulated, r.Real, 100*r.Apart())
		most := 0.15
		switch {
		case r.Name == "bytes a query", strings.HasPrefix(r.Name, "latency") && !latencies:
			continue
		case strings.HasPrefix(r.Name, "latency"):
			most = 0.3
		}
		if math.Abs(r.Apart()) > most {
			apart = append(apart, fmt.Sprintf("%s: %.2f simulated, %.2f on real hosts", r.Name, r.Simulated, r.Real))
		}
	}
	return apart
}
