package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/scenario"
)

// Scenarios is the name of what is kept of scenarios in a folder.
const Scenarios = "scenarios"

// Result is what runs of scenarios have shown, on either engine.
type Result struct {
	Version string          `json:"version,omitempty"` // of the program
	Rows    []Row           `json:"rows"`
	Runs    []*scenario.Run `json:"-"`
	Files   []string        `json:"files,omitempty"`
}

// Write writes rows, tables, plots and the report that holds all of them to a folder, which it makes when it is
// missing. The parameters are the report's first lines.
func (r Result) Write(dir string, of []*scenario.Scenario, parameters ...[2]string) ([]string, error) {
	out := report.Folder{Dir: dir}
	var outcomes []Outcome
	for _, row := range r.Rows {
		outcomes = append(outcomes, OutcomeOf(strings.Join([]string{row.Scenario, row.Strategy, row.Engine}, ", "), row.Figure, row.Mean).With(row.Seeds, row.Values))
	}
	outcomes = slices.DeleteFunc(outcomes, func(o Outcome) bool { return o.Trials == 0 }) // no number
	Found{Scenarios, r.Version, r.Rows, outcomes}.Write(&out)
	out.CSV("rows.csv", RowRecords(r.Rows))
	for _, t := range Tables(r.Runs) {
		out.CSV(t.Name+".csv", t.Records())
		out.Write(t.Name+".ndjson", t.Lines())
	}
	page := report.Page{
		Name: Scenarios, Title: "scenarios: what strategies show in them", Version: r.Version, Parameters: parameters,
	}
	for _, s := range of {
		page.Parameters = append(page.Parameters, [2]string{s.Name, fmt.Sprintf("%d trials, with seeds drawn from %d", s.Trials, s.Seed)})
		mine := slices.DeleteFunc(slices.Clone(r.Runs), func(run *scenario.Run) bool { return run.Scenario != s.Name })
		if len(mine) == 0 {
			continue
		}
		page.Sections = append(page.Sections, report.Section{
			Title: s.Name + ": " + s.Question, Table: scenarioTable(s, r.Rows), Drawings: scenarioDrawings(s, mine),
		})
	}
	traces := report.Table{Head: []string{"scenario", "strategy", "trial", "seed", "trace"}}
	for _, run := range r.Runs {
		traces.Rows = append(traces.Rows, []string{run.Scenario, run.Strategy, strconv.Itoa(run.Trial + 1), strconv.FormatUint(run.Seed, 10), run.Trace})
	}
	page.Sections = append(page.Sections, report.Section{Title: "Every run and its trace", Table: traces, Folded: true})
	out.Report(page)
	return out.Files, out.Err
}

// scenarioTable has a row for each strategy and a column for each figure.
func scenarioTable(s *scenario.Scenario, rows []Row) report.Table {
	t := report.Table{Head: []string{"strategy"}}
	for _, f := range s.Figures() {
		t.Head = append(t.Head, strings.TrimSuffix(f.Title+", "+f.Unit, ", "))
	}
	for _, name := range s.Strategies {
		cells := []string{name}
		for _, r := range rows {
			if r.Scenario == s.Name && r.Strategy == name {
				cells = append(cells, r.Mean.String())
			}
		}
		if len(cells) == len(t.Head) {
			t.Rows = append(t.Rows, cells)
		}
	}
	return t
}

// scenarioDrawings are the recall over time, and the distributions of latency and messages.
func scenarioDrawings(s *scenario.Scenario, runs []*scenario.Run) []report.Drawing {
	over := report.Figure{Name: s.Name + "-recall", X: "seconds", Y: "recall", Marks: true, Share: true}
	latency := report.Figure{Name: s.Name + "-latency-cdf", X: "ms until the first holder", Y: "share of the queries", LogX: true, From: 0, To: 1}
	messages := report.Figure{Name: s.Name + "-messages-cdf", X: "messages of a query", Y: "share of the queries", LogX: true, From: 0, To: 1}
	for _, name := range s.Strategies {
		mine := slices.DeleteFunc(slices.Clone(runs), func(r *scenario.Run) bool { return r.Strategy != name })
		if len(mine) == 0 {
			continue
		}
		l := report.Line{Name: name}
		for _, p := range RecallOverTime(mine) {
			l.Points = append(l.Points, report.Point{X: p.At, Y: p.Mean.Value, Half: p.Mean.Half})
		}
		over.Lines = append(over.Lines, l)
		latency.Lines = append(latency.Lines, distribution(name, mine, func(q scenario.Query) float64 { return q.Latency }))
		messages.Lines = append(messages.Lines, distribution(name, mine, func(q scenario.Query) float64 { return float64(q.Messages) }))
	}
	var out []report.Drawing
	for _, f := range []report.Figure{over, latency, messages} {
		if f.Drawable() {
			out = append(out, f)
		}
	}
	return out
}

// distribution is the cumulative share of all queries over a quantity. A query whose quantity is 0 or less has none.
func distribution(name string, runs []*scenario.Run, of func(scenario.Query) float64) report.Line {
	var xs []float64
	all := 0
	for _, r := range runs {
		for _, q := range r.Queries {
			all++
			if x := of(q); x > 0 {
				xs = append(xs, x)
			}
		}
	}
	slices.Sort(xs)
	l := report.Line{Name: name}
	const most = 200 // points of a curve
	for i, x := range xs {
		if step := max(1, len(xs)/most); i%step == 0 || i == len(xs)-1 {
			l.Add(x, float64(i+1)/float64(all))
		}
	}
	return l
}
