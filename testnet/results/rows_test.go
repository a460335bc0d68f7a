package results

import (
	"strings"
	"testing"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/statistics"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("name.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// simulated is a small run.
func simulated(t *testing.T) *scenario.Run {
	t.Helper()
	plan, err := parse(t, "question=\"?\"\npeers=20\n[queries]\nnumber=20\n").Plan(0)
	if err != nil {
		t.Fatal(err)
	}
	run, err := scenario.Simulate(t.Context(), plan, venn.Strategy, scenario.SimulateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Recall over time is in steps of 5 s of a short run. A query counts in the step in which it begins, once.
func TestRecallOverTimeCountsOnce(t *testing.T) {
	runs := []*scenario.Run{{Report: sim.Report{Queries: []sim.Query{
		{At: 0, Found: 1, Findable: 1},
		{At: 4.9, Found: 0, Findable: 1},
		{At: 5, Found: 1, Findable: 4},
		{At: 9.9, Found: 3, Findable: 3},
		{At: 15, Found: 1, Findable: 1},
	}}}}
	over := RecallOverTime(runs)
	if len(over) != 3 {
		t.Fatalf("%+v", over)
	}
	for i, want := range []struct{ at, recall float64 }{{2.5, 0.5}, {7.5, 4.0 / 7}, {17.5, 1}} {
		if over[i].At != want.at || over[i].Mean.Value != want.recall {
			t.Errorf("at %v recall is %v, want %v at %v", over[i].At, over[i].Mean.Value, want.recall, want.at)
		}
	}
	if got := marks(over); got != "55*" {
		t.Errorf("drawn as %s", got)
	}
}

// Answers do not go below 0, and those of recall not above 1.
func TestAnswersStayInRange(t *testing.T) {
	s := parse(t, "question = \"?\"\npeers = 10\nstrategies = [\"venn\"]\n")
	row := func(figure string, value float64) Row {
		return Row{Scenario: s.Name, Strategy: "venn", Engine: scenario.Simulated, Figure: figure, Mean: statistics.Mean{Value: value, Half: 1, N: 3}}
	}
	got := AnswersOf(s, []Row{row("recall", 0.5), row("messages", 0.5), row("upkeep", 5)})
	if want := "\n[answers.venn]\nrecall = [0.0, 1.0]\nmessages = [0.0, 1.915]\nupkeep = [3.585, 6.415]\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Other answers take the place of those of a file, and nothing else of it changes.
func TestWithAnswers(t *testing.T) {
	const text = "question = \"?\"\n\n[answers.venn]\nrecall = [0.0, 1.0]\n\n[[events]]\nat = \"9s\"\nkind = \"partition\"\n\n[answers.flooding]\nrecall = [0.5, 1.0]\n"
	const want = "question = \"?\"\n\n[[events]]\nat = \"9s\"\nkind = \"partition\"\n\n[answers.venn]\nrecall = [0.9, 1.0]\n"
	if got := WithAnswers(text, "\n[answers.venn]\nrecall = [0.9, 1.0]\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The tables have one schema as CSV and as NDJSON.
func TestTables(t *testing.T) {
	r := simulated(t)
	for _, table := range Tables([]*scenario.Run{r}) {
		records, lines := table.Records(), strings.Split(strings.TrimSpace(string(table.Lines())), "\n")
		if len(records) != len(lines)+1 || len(records) < 5 {
			t.Errorf("%s: %d rows of CSV, %d of NDJSON", table.Name, len(records), len(lines))
		}
		for _, column := range records[0] {
			if !strings.Contains(lines[0], `"`+column+`":`) {
				t.Errorf("%s: no %s in %s", table.Name, column, lines[0])
			}
		}
	}
}
