package results

import (
	"reflect"
	"testing"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
)

// of is a result of runs of one scenario.
func of(t *testing.T, runs ...*scenario.Run) Result {
	t.Helper()
	s := parse(t, "question=\"?\"\npeers=10\nrows=\"trials\"\n")
	for i, r := range runs {
		r.Scenario, r.Strategy, r.Engine, r.Trial, r.Peers = s.Name, "venn", scenario.Simulated, i, 10
	}
	r := Result{Scenarios: []*scenario.Scenario{s}, Runs: runs}
	r.Sum()
	return r
}

// Trials may have peers of other classes. The table has all classes, each with the means of the trials that have it.
func TestLinesOfTrials(t *testing.T) {
	weak, strong := sim.Known{Rate: 1000, Peers: 10, Covers: 0.25, DirectoryBytes: 1000}, sim.Known{Rate: 9000, Peers: 4, Covers: 0.5, DirectoryBytes: 5000}
	more := weak
	more.Peers, more.DirectoryBytes = 6, 3000
	r := of(t,
		&scenario.Run{Report: sim.Report{Lines: []sim.Known{strong}}},
		&scenario.Run{Report: sim.Report{Lines: []sim.Known{weak}}},
		&scenario.Run{Report: sim.Report{Lines: []sim.Known{more, strong}}},
		&scenario.Run{Report: sim.Report{Lines: []sim.Known{{Rate: 9000, Peers: 4, Covers: -1, DirectoryBytes: 5000}}}},
	)
	want := [][]string{{"venn", "10", "", "1", "4", "0.2500", "2.0"}, {"venn", "10", "", "9", "3", "0.5000", "5.0"}}
	if got := r.groups()[0].lines().Rows; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// A run that finds nothing has neither hops nor latencies: 0 would be the best of all. What no run tells is no figure.
func TestNothingFound(t *testing.T) {
	nothing := &scenario.Run{Report: sim.Report{Queries: []sim.Query{{Findable: 1, Latency: -1}}}}
	both := of(t, nothing, &scenario.Run{Report: sim.Report{Queries: []sim.Query{{Findable: 1, Found: 1, Latency: 100, Hops: 2}}}})
	none := of(t, nothing)
	for name, want := range map[string]string{"hops": "2", "latency_p50": "100"} {
		if got := both.groups()[0].cases[0].rows[name].Mean.String(); got != want {
			t.Errorf("%s: %s of both, want %s", name, got, want)
		}
		if got := none.groups()[0].cases[0].rows[name].Mean.String(); got != unknown {
			t.Errorf("%s: %s of nothing found", name, got)
		}
	}
	for _, f := range none.groups()[0].figures() {
		if f.Name == "covered" || f.Name == "load" {
			t.Errorf("%s is a figure, and nobody tells it", f.Name)
		}
	}
}

// A figure without a swept number has a dot for each case whose value is known. A table on its side leaves out what
// holds for all.
func TestDots(t *testing.T) {
	r := of(t, &scenario.Run{Report: sim.Report{Queries: []sim.Query{{Findable: 1, Found: 1, Latency: 100, Hops: 2}}}}, &scenario.Run{})
	g := r.groups()[0]
	for _, f := range g.figures() {
		known := 0
		for _, c := range g.cases {
			if c.rows[f.Name].Mean.N > 0 {
				known++
			}
		}
		d := g.chart(f)
		if len(d.Dots) != known || known == 1 && (d.Dots[0].Value != g.cases[0].rows[f.Name].Mean.Value || d.Dots[0].Colour != 0) {
			t.Errorf("%s: %+v, of %d known values", f.Name, d.Dots, known)
		}
	}
	table := report.Table{Head: []string{"strategy", "peers", "sweep", "trials", "recall"}, Rows: [][]string{{"venn", "10", "", "2", "1"}, {"other", "10", "", "2", "0"}}}
	want := report.Table{Head: []string{"strategy", "venn", "other"}, Rows: [][]string{{"recall", "1", "0"}}}
	if got := transposed(table); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
