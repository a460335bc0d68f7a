package testnet_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/misdeed"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// staged is a scenario of seconds in which everything happens that real hosts can stage.
const staged = `question = "?"
peers = 14
all = true
warmup = "5s"
asking = "20s"
patience = "3s"
[collections]
keys = 40
[queries]
number = 200
[changes]
share = 0.2
new = 0.5
[[lines]]
up = "1mbit"
down = "8mbit"
[[lines]]
name = "fast"
up = "10mbit"
down = "10mbit"
[[adversaries]]
kind = "liar"
number = 1
[[events]]
at = "10s"
kind = "partition"
[[events]]
at = "15s"
kind = "heal"
[[events]]
at = "16s"
kind = "kill"
share = 0.3
back = "2s"
[[events]]
at = "18s"
kind = "crowd"
queries = 20
over = "1s"
[[events]]
at = "19s"
kind = "slow"
share = 0.2
down = "64kbit"
`

// Real hosts play what the simulator plays: peers that leave and come back, a partition and its end, changes, a crowd,
// slow lines. On both engines the recall over time shows when the network was parted, and that it comes together again:
// queries want every holder, and half of those are beyond the partition.
func TestStage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	together(t, map[string]func(*testing.T){
		"venn":     func(t *testing.T) { play(t, venn.Strategy) },
		"flooding": func(t *testing.T) { play(t, flooding.Strategy) },
		"faulty":   stageFaulty,
	})
}

// together runs tests at one time, more than there are processors too: real hosts mostly wait.
func together(t *testing.T, tests map[string]func(*testing.T)) {
	var all sync.WaitGroup
	for name, test := range tests {
		all.Go(func() { t.Run(name, test) })
	}
	all.Wait()
}

// plan is a scenario and its first trial.
func plan(t *testing.T, text string) (*scenario.Scenario, *scenario.Plan) {
	t.Helper()
	s, err := scenario.Parse("test.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan(0)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// play has real hosts play the scenario.
func play(t *testing.T, by strategy.Strategy) {
	s, p := plan(t, staged)
	simulated, err := scenario.Simulate(context.Background(), p, by, scenario.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if fault := parted(t, simulated); fault != "" {
		t.Error(fault)
	}
	testnet.Judge(t, func() string {
		r, err := testnet.Stage(context.Background(), p, by, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, least := s.Values(r), len(r.Seconds)
		for _, sec := range r.Seconds {
			least = min(least, sec.Online)
		}
		t.Logf("recall %.3f of %d queries in %d seconds, %.1f kB of upkeep, at least %d peers, %s",
			v["recall"], len(r.Queries), len(r.Seconds), v["upkeep"], least, r.Engine)
		if v["upkeep"] <= 0 || len(r.Kinds) < 2 {
			t.Errorf("%v, %d kinds of messages", v, len(r.Kinds))
		}
		if nodes := by.Name == venn.Strategy.Name; nodes != math.IsNaN(v["hops"]) || !nodes && !(v["hops"] >= 1) || !(v["wasted"] > 0) && !nodes {
			t.Errorf("%s: %v hops, %v wasted probes: hops are unknown of nodes alone", by.Name, v["hops"], v["wasted"])
		}
		if len(r.Queries) < 200 || len(r.Seconds) < 25 || least != 10 {
			return fmt.Sprintf("%d queries in %d seconds, at least %d peers: want 200, 25 and 10", len(r.Queries), len(r.Seconds), least)
		}
		return parted(t, r)
	})
}

// parted says what is wrong if the recall over time does not show that a network is parted from 10 s to 15 s.
func parted(t *testing.T, r *scenario.Run) string {
	at := map[float64]float64{} // by the middle of 5 s
	for _, x := range results.RecallOverTime([]*scenario.Run{r}) {
		at[x.At] = x.Mean.Value
	}
	t.Logf("%s, %s: recall by time: %v", r.Strategy, r.Engine, at)
	before, during, after := at[7.5], at[12.5], at[22.5]
	if before < 0.85 || during > 0.7 || after < during+0.2 {
		return fmt.Sprintf("%s, %s: recall %.2f before the partition, %.2f in it, %.2f afterwards", r.Strategy, r.Engine, before, during, after)
	}
	return ""
}

// A run ends when it is stopped, with what is known by then.
func TestStageIsStopped(t *testing.T) {
	_, p := plan(t, "question=\"?\"\npeers=4\n[collections]\nkeys=10\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := testnet.Stage(ctx, p, venn.Strategy, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// stageFaulty: among one faulty peer of each kind, nodes find what they find without them. Nodes without defences are
// staged too.
func stageFaulty(t *testing.T) {
	for _, c := range []struct {
		by          strategy.Strategy
		times       string
		most, least int // queries
		recall      float64
	}{
		{venn.Strategy, "warmup=\"6s\"\nasking=\"6s\"\npatience=\"4s\"\n[queries]\nnumber=60\n", 60, 50, 0.7}, // 7 of 16 are faulty
		{venn.Undefended, "warmup=\"1s\"\nasking=\"1s\"\npatience=\"1s\"\n[queries]\nnumber=10\n", 10, 1, 0},
	} {
		t.Run(c.by.Name, func(t *testing.T) {
			text := "question=\"?\"\npeers=16\n" + c.times + "[collections]\nkeys=40\n[parameters]\norigins=200\n"
			for _, kind := range misdeed.Kinds {
				text += "[[adversaries]]\nkind=\"" + kind + "\"\nnumber=1\n"
			}
			s, p := plan(t, text)
			if _, err := testnet.Stage(context.Background(), p, flooding.Strategy, nil); !errors.Is(err, testnet.ErrConfig) {
				t.Errorf("flooding has adversaries of venn: %v", err)
			}
			testnet.Judge(t, func() string { // a busy machine may take longer than the queries' patience
				r, err := testnet.Stage(context.Background(), p, c.by, nil)
				if err != nil {
					t.Fatal(err)
				}
				v := s.Values(r)
				t.Logf("recall %.3f of %d queries, %.1f kB of upkeep", v["recall"], len(r.Queries), v["upkeep"])
				if len(r.Queries) < c.least || len(r.Queries) > c.most || v["recall"] < c.recall {
					return fmt.Sprintf("recall %.3f of %d queries, want %.1f of %d to %d", v["recall"], len(r.Queries), c.recall, c.least, c.most)
				}
				return ""
			})
		})
	}
}

// What real hosts cannot stage is refused.
func TestStageRefuses(t *testing.T) {
	for _, text := range []string{
		"loss=0.1\n", "reordered=0.1\n", "duplicated=0.1\n", "[parameters]\nbits=8\n", "[[events]]\nkind=\"older\"\nshare=0.5\n",
		"[[events]]\nat=\"1s\"\nkind=\"clock\"\nshare=0.5\nby=\"1h\"\n", "[[lines]]\nname=\"slow\"\nup=\"4kbit\"\ndown=\"1mbit\"\n",
	} {
		_, p := plan(t, "question=\"?\"\npeers=4\n"+text)
		if _, err := testnet.Stage(context.Background(), p, venn.Strategy, nil); !errors.Is(err, testnet.ErrConfig) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
