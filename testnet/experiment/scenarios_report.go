package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// write writes tables, rows, plots and the report that holds all of them. Of so many runs some may be missing.
func (o *ScenarioOptions) write(r ScenarioResult, runs int) ([]string, error) {
	out := output{dir: o.Out}
	var outcomes []Outcome
	for _, row := range r.Rows {
		outcomes = append(outcomes, outcome(strings.Join([]string{row.Scenario, row.Strategy, row.Engine}, ", "), row.Figure, row.Mean))
	}
	outcomes = slices.DeleteFunc(outcomes, func(o Outcome) bool { return o.Trials == 0 }) // no number
	out.found(found{Scenarios, o.Version, r.Rows, outcomes})
	out.csv("rows.csv", scenario.RowRecords(r.Rows))
	for _, t := range scenario.Tables(r.Runs) {
		out.csv(t.Name+".csv", t.Records())
		out.write(t.Name+".ndjson", t.Lines())
	}
	page := report{
		Name: Scenarios, Title: "scenarios: what strategies show in them", Version: o.Version,
		Parameters: append([][2]string{{"program", program()}}, unfinished(len(r.Runs), runs)...),
	}
	for _, s := range o.Scenarios {
		page.Parameters = append(page.Parameters, [2]string{s.Name, fmt.Sprintf("%d trials, seeds from %d", s.Trials, s.Seed)})
		mine := slices.DeleteFunc(slices.Clone(r.Runs), func(run *scenario.Run) bool { return run.Scenario != s.Name })
		if len(mine) == 0 {
			continue
		}
		page.Sections = append(page.Sections, section{
			Title: s.Name + ": " + s.Question, Table: scenarioTable(s, r.Rows), Drawings: scenarioDrawings(s, mine),
		})
	}
	traces := table{Head: []string{"scenario", "strategy", "trial", "seed", "trace"}}
	for _, run := range r.Runs {
		traces.Rows = append(traces.Rows, []string{run.Scenario, run.Strategy, strconv.Itoa(run.Trial + 1), strconv.FormatUint(run.Seed, 10), run.Trace})
	}
	page.Sections = append(page.Sections, section{Title: "Every run and its trace", Table: traces, Folded: true})
	out.report(page)
	return out.files, out.err
}

// scenarioTable has a row for each strategy and a column for each figure.
func scenarioTable(s *scenario.Scenario, rows []scenario.Row) table {
	t := table{Head: []string{"strategy"}}
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
func scenarioDrawings(s *scenario.Scenario, runs []*scenario.Run) []drawing {
	over := figure{name: s.Name + "-recall", x: "seconds", y: "recall", marks: true, share: true}
	latency := figure{name: s.Name + "-latency-cdf", x: "ms until the first holder", y: "share of the queries", logX: true, from: 0, to: 1}
	messages := figure{name: s.Name + "-messages-cdf", x: "messages of a query", y: "share of the queries", logX: true, from: 0, to: 1}
	for _, name := range s.Strategies {
		mine := slices.DeleteFunc(slices.Clone(runs), func(r *scenario.Run) bool { return r.Strategy != name })
		if len(mine) == 0 {
			continue
		}
		l := line{Name: name}
		for _, p := range scenario.RecallOverTime(mine) {
			l.Points = append(l.Points, point{p.At, p.Mean.Value, p.Mean.Half})
		}
		over.lines = append(over.lines, l)
		latency.lines = append(latency.lines, distribution(name, mine, func(q scenario.Query) float64 { return q.Latency }))
		messages.lines = append(messages.lines, distribution(name, mine, func(q scenario.Query) float64 { return float64(q.Messages) }))
	}
	var out []drawing
	for _, f := range []figure{over, latency, messages} {
		if f.drawable() {
			out = append(out, f)
		}
	}
	return out
}

// distribution is the share of all queries of which a quantity is at most so much; where it is 0 or less there is none.
func distribution(name string, runs []*scenario.Run, of func(scenario.Query) float64) line {
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
	l := line{Name: name}
	const most = 200 // points of a curve
	for i, x := range xs {
		if step := max(1, len(xs)/most); i%step == 0 || i == len(xs)-1 {
			l.add(x, float64(i+1)/float64(all))
		}
	}
	return l
}
