package experiment

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// rows returns the means over the trials, in the order of the runs and of the measures in each.
func (c *collectionTrials) rows(of []*found) Rows {
	type key struct {
		at                 float64
		what, by, quantity string
	}
	sums := map[key][]float64{}
	var rows CollectionRows
	var keys []key
	for i, s := range c.settings {
		if of[i] == nil {
			continue
		}
		for _, m := range of[i].Measures {
			k := key{s.At, m.Case, m.By, m.Quantity}
			if sums[k] == nil {
				keys = append(keys, k)
				rows = append(rows, CollectionRow{Experiment: s.Experiment, Sweep: s.Sweep, At: s.At, Peers: s.Peers, Measure: m})
			}
			sums[k] = append(sums[k], m.Value)
		}
	}
	for i, k := range keys {
		m := statistics.MeanOf(sums[k])
		rows[i].Value, rows[i].Error, rows[i].Trials, rows[i].mean = m.Value, m.StandardError(), m.N, m
	}
	c.found = rows
	return rows
}

// writeText writes a row for every case, with a column for every quantity.
func (r CollectionRows) writeText(w io.Writer) error {
	return results.WriteTable(w, 0, collectionTable(r))
}

// collectionTable returns a table with a line for each case. It has columns that describe the case, and a column for
// each quantity.
func collectionTable(rows []CollectionRow) (t report.Table) {
	if len(rows) == 0 {
		return t
	}
	sweep := rows[0].Sweep
	about := func(r CollectionRow) []string {
		at, bytes := "", ""
		if sweep != "" {
			at = report.Number(r.At)
		}
		if r.Bytes > 0 && sweep != "bytes" {
			bytes = strconv.Itoa(r.Bytes)
		}
		return []string{at, r.Case, r.By, bytes}
	}
	line := func(r CollectionRow) string { return strings.Join(about(r), "\n") }
	quantities := results.Distinct(rows, func(r CollectionRow) string { return r.Quantity })
	t.Head = append([]string{sweep, "case", "by", "bytes"}, quantities...)
	for _, name := range results.Distinct(rows, line) {
		cells := make([]string, len(t.Head))
		for _, r := range rows {
			if line(r) == name {
				copy(cells, about(r))
				cells[4+slices.Index(quantities, r.Quantity)] = r.mean.String()
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t.Filled()
}

func (r CollectionRows) records() [][]string {
	records := [][]string{{"sweep", "at", "peers", "case", "by", "bytes", "quantity", "value", "standard_error", "trials"}}
	for _, x := range r {
		records = append(records, []string{
			x.Sweep, report.Number(x.At), strconv.Itoa(x.Peers), x.Case, x.By, strconv.Itoa(x.Bytes), x.Quantity, report.Number(x.Value), report.Number(x.Error),
			strconv.Itoa(x.Trials),
		})
	}
	return records
}

func (r CollectionRows) outcomes() (out []results.Outcome) {
	for _, x := range r {
		of := x.title()
		if x.Sweep != "" {
			of += fmt.Sprintf(", %s=%s", x.Sweep, report.Number(x.At))
		}
		out = append(out, results.OutcomeOf(of, x.Quantity, x.mean))
	}
	return out
}

// page returns a table of all rows, and a plot for each quantity.
func (c *collectionTrials) page(*report.Folder) report.Page {
	o, peers := c.options, "as many as the data has"
	if o.Peers > 0 {
		peers = strconv.Itoa(o.Peers)
	}
	page := report.Page{
		Name: c.Name, Title: c.Title, Terms: c.terms,
		Sections: []report.Section{{Title: "Results", Table: collectionTable(c.found), Drawings: collectionDrawings(c.Name, c.found)}},
		Parameters: [][2]string{
			{"collections", o.Data},
			{"peers", peers},
			{"trials", fmt.Sprintf("%d; a value is their mean ± the half of its 95 %% interval, by Student's t distribution", o.Trials)},
			{"seed", strconv.FormatUint(o.Seed, 10)},
			{"program", runs.Program()},
		},
	}
	if sweep := c.found[0].Sweep; sweep != "" {
		page.Parameters = append(page.Parameters, [2]string{"sweep", o.Sweep + " (" + parameterOf(c.sweeps, sweep).Unit + ")"})
	}
	return page
}

// collectionDrawings returns a figure of each quantity over the sweep, with a line for each case. Without a sweep, it
// returns charts with a dot for each case.
func collectionDrawings(name string, rows []CollectionRow) []report.Drawing {
	var out []report.Drawing
	for _, q := range results.Distinct(rows, func(r CollectionRow) string { return r.Quantity }) {
		of := slices.DeleteFunc(slices.Clone(rows), func(r CollectionRow) bool { return r.Quantity != q })
		file := name + "-" + strings.ReplaceAll(strings.Split(q, ",")[0], " ", "-")
		if rows[0].Sweep == "" {
			out = append(out, collectionChart(file, q, of))
		} else {
			out = append(out, collectionFigure(file, q, of))
		}
	}
	return out
}

// title returns a row's case, with its method if it has one.
func (r CollectionRow) title() string {
	if r.By == "" {
		return r.Case
	}
	return r.Case + ", " + r.By
}

// isShare reports whether a quantity is a share that reaches 1.
func isShare(quantity string) bool { return quantity == "recall" || quantity == "pairs connected" }

func collectionChart(file, quantity string, rows []CollectionRow) report.DotChart {
	d := report.DotChart{Name: file, Title: quantity, Share: isShare(quantity)}
	cases := results.Distinct(rows, func(r CollectionRow) string { return r.Case })
	for _, r := range rows {
		d.Dots = append(d.Dots, report.Dot{
			Name: r.title(), Value: r.Value, Half: r.mean.Half, Label: r.mean.String(), Colour: slices.Index(cases, r.Case),
		})
	}
	return d
}

// collectionFigure draws a quantity over the sweep, with a line for each case.
func collectionFigure(file, quantity string, rows []CollectionRow) report.Figure {
	f := report.Figure{Name: file, Y: quantity, Marks: true, Share: isShare(quantity)}
	var values []float64
	for _, r := range rows {
		values = append(values, r.At)
	}
	axis, _, _ := strings.Cut(parameterOf(Sweeps(rows[0].Experiment), rows[0].Sweep).Unit, ",")
	place := f.LayOut(axis, false, report.Number, values)
	for _, r := range rows {
		i := slices.IndexFunc(f.Lines, func(l report.Line) bool { return l.Name == r.title() })
		if i < 0 {
			i = len(f.Lines)
			f.Lines = append(f.Lines, report.Line{Name: r.title()})
		}
		f.Lines[i].Points = append(f.Lines[i].Points, report.Point{X: place(r.At), Y: r.Value, Half: r.mean.Half})
	}
	for _, l := range f.Lines {
		l.Sort()
	}
	return f
}
