package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
)

// Write writes the scenarios, rows, tables, drawings and a report with all of them to a folder, which must exist. It
// returns the paths of the files. The parameters are the report's first lines, the terms its last.
func (r Result) Write(dir string, parameters, terms [][2]string) ([]string, error) {
	out := report.Folder{Dir: dir}
	Found{r.Name(), r.Version, r.rows(), r.outcomes()}.Write(&out)
	records := RowRecords(r.Rows)
	if r.Trials() {
		records = r.trialRecords()
	}
	out.CSV("rows.csv", records)
	for _, t := range Tables(r.Runs) {
		out.CSV(t.Name+".csv", t.Records())
		out.Write(t.Name+".ndjson", t.Lines())
	}
	page := report.Page{Name: r.Name(), Title: "scenarios: what strategies show in them", Version: r.Version, Parameters: parameters, Terms: terms}
	for _, g := range r.groups() {
		out.Write(g.of.Name+".toml", []byte(g.of.Text()))
		page.Parameters = append(page.Parameters, g.parameters()...)
		page.Sections = append(page.Sections, r.sections(g)...)
	}
	if r.Trials() {
		page.Title = whole(r.Scenarios[0]).Question
	}
	out.Report(page)
	return out.Files, out.Err
}

// outcomes returns the rows that have a value as outcomes.
func (r Result) outcomes() (out []Outcome) {
	for _, row := range r.Rows {
		if row.Mean.N > 0 {
			out = append(out, OutcomeOf(strings.Join([]string{row.Scenario, row.Strategy, row.Engine}, ", "), row.Figure, row.Mean).With(row.Seeds, row.Values))
		}
	}
	return out
}

// sections returns the sections of a scenario in the report: the results, and details that are folded.
func (r Result) sections(g group) []report.Section {
	name := g.of.Name + ": " + strings.TrimSpace(g.of.Question)
	first := report.Section{Title: name, Table: g.table(r.Slopes, title), Drawings: g.overTime()}
	if g.wide() {
		first.Drawings = g.drawings(r.Slopes)
	}
	return slices.DeleteFunc([]report.Section{
		first,
		{Title: g.of.Name + ": what peers know, by the rate of their lines", Table: g.lines(), Folded: true},
		{Title: g.of.Name + ": what peers send for upkeep, by kind of message", Table: g.kinds(), Folded: true},
		{Title: g.of.Name + ": every run, and its trace", Table: g.traces(), Folded: true},
	}, func(s report.Section) bool { return len(s.Table.Rows) == 0 })
}

// parameters returns the settings that all runs of a scenario share, for the report.
func (g group) parameters() [][2]string {
	s, want := g.of, "one holder"
	if s.All {
		want = "all holders"
	}
	queries := fmt.Sprintf("%d, like %s", s.Queries.Number, s.Queries.Rule)
	if s.Queries.Log != "" {
		queries = "those of the log " + s.Queries.Log
	}
	out := [][2]string{
		{s.Name, fmt.Sprintf("%d trials, with seeds drawn from %d; the file is %s.toml", s.Trials, s.Seed, s.Name)},
		{"queries", queries + ", for " + want},
		{"virtual time", fmt.Sprintf("%v before the first query, %v of queries, %v after", s.Warmup, s.Asking, s.Patience)},
	}
	if slices.ContainsFunc(g.cases, func(c situation) bool { return c.strategy == s.UpkeepAs }) && len(g.strategies()) > 1 {
		out = append(out, [2]string{"upkeep of the others", fmt.Sprintf("as many bytes a second as %s sent in the same network, and to connect besides", s.UpkeepAs)})
	}
	for i, c := range g.cases[0].of.At {
		values := Distinct(g.cases, func(x situation) string { return x.of.At[i].Label() })
		out = append(out, [2]string{"sweep", fmt.Sprintf("%s=%s (%s)", c.Name, strings.Join(values, ","), c.Unit())})
	}
	return out
}

// drawings returns a chart of each figure. If the first sweep has numbers, the chart is over it, with a line for
// each strategy and value of the other sweeps. Else it has a dot for each case.
func (g group) drawings(slopes []Slope) (out []report.Drawing) {
	for _, f := range g.figures() {
		if d := g.figure(f, slopes); len(g.places()) > 0 {
			if d.Drawable() {
				out = append(out, d)
			}
		} else if d := g.chart(f); len(d.Dots) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// file returns the name of a figure's file, without a suffix.
func (g group) file(f scenario.Figure) string {
	return g.of.Name + "-" + strings.ReplaceAll(f.Name, "_", "-")
}

func (g group) chart(f scenario.Figure) report.DotChart {
	d := report.DotChart{Name: g.file(f), Title: title(f), Log: f.Log, Share: f.Share}
	for _, c := range g.cases {
		if m := c.rows[f.Name].Mean; m.N > 0 {
			d.Dots = append(d.Dots, report.Dot{Name: c.name(), Value: m.Value, Half: m.Half, Label: m.String(), Colour: slices.Index(g.strategies(), c.strategy)})
		}
	}
	return d
}

// places returns each case's value of the first sweep; nil: nothing is swept, or the values are not numbers.
func (g group) places() (out []float64) {
	for _, c := range g.cases {
		if len(c.of.At) == 0 {
			return nil
		}
		x, is := c.of.At[0].Number()
		if !is {
			return nil
		}
		out = append(out, x)
	}
	return out
}

// figure draws a figure over the first sweep. If only the number of peers is swept, both axes are logarithmic, and
// the legend has the slopes.
func (g group) figure(f scenario.Figure, slopes []Slope) report.Figure {
	sloped := slices.ContainsFunc(slopes, func(s Slope) bool { return s.scenario == g.of.Name })
	d := report.Figure{Name: g.file(f), Y: title(f), LogY: f.Log || sloped, Marks: true, Share: f.Share}
	xs := g.places()
	if len(xs) == 0 {
		return d
	}
	first := g.cases[0].of.At[0]
	label := func(x float64) string {
		return g.cases[slices.Index(xs, x)].of.At[0].Label()
	}
	axis, _, _ := strings.Cut(first.Unit(), ",")
	axis, _, _ = strings.Cut(axis, ";")
	place := d.LayOut(axis, first.Time(), label, xs)
	d.LogX = d.LogX || sloped
	of := func(c situation) string { return strings.TrimSpace(c.strategy + " " + joined(c.of.At[1:], " ")) }
	for _, name := range Distinct(g.cases, of) {
		l := report.Line{Name: name}
		for i, c := range g.cases {
			if m := c.rows[f.Name].Mean; of(c) == name && m.N > 0 {
				l.Points = append(l.Points, report.Point{X: place(xs[i]), Y: m.Value, Half: m.Half})
			}
		}
		if sloped {
			l.Name += ", slope " + slopeOf(slopes, g.of.Name, name, f)
		}
		l.Sort()
		d.Lines = append(d.Lines, l) // even without points, so that a strategy has one colour in all figures
	}
	return d
}

// overTime returns drawings of the recall over time, and of the distributions of latency and messages.
func (g group) overTime() []report.Drawing {
	s := g.of
	over := report.Figure{Name: s.Name + "-recall", X: "seconds", Y: "recall", Marks: true, Share: true}
	latency := report.Figure{Name: s.Name + "-latency-cdf", X: "ms until the first holder", Y: "share of the queries", LogX: true, From: 0, To: 1}
	messages := report.Figure{Name: s.Name + "-messages-cdf", X: "messages of a query", Y: "share of the queries", LogX: true, From: 0, To: 1}
	for _, c := range g.cases {
		name, mine := c.strategy, c.runs
		if c.engine == scenario.Real {
			name += ", on " + onEngine[c.engine]
		}
		l := report.Line{Name: name}
		for _, p := range RecallOverTime(mine) {
			l.Points = append(l.Points, report.Point{X: p.At, Y: p.Mean.Value, Half: p.Mean.Half})
		}
		over.Lines = append(over.Lines, l)
		latency.Lines = append(latency.Lines, distribution(name, mine, func(q sim.Query) float64 { return q.Latency }))
		messages.Lines = append(messages.Lines, distribution(name, mine, func(q sim.Query) float64 { return float64(q.Messages) }))
	}
	var out []report.Drawing
	for _, f := range []report.Figure{over, latency, messages} {
		if f.Drawable() {
			out = append(out, f)
		}
	}
	return out
}

// distribution returns the cumulative share of all queries over a quantity. A query whose quantity is 0 or less
// counts among all queries but adds no point.
func distribution(name string, runs []*scenario.Run, of func(sim.Query) float64) report.Line {
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
	const most = 200 // most points of a curve, about
	for i, x := range xs {
		if step := max(1, len(xs)/most); i%step == 0 || i == len(xs)-1 {
			l.Add(x, float64(i+1)/float64(all))
		}
	}
	return l
}
