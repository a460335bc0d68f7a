package experiment

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// collectionRows returns the means over the trials, in the order of the runs and of the measures in each.
func collectionRows(settings []collectionSetting, found []*[]measure) []CollectionRow {
	type key struct {
		at       float64
		what, by string
		quantity string
	}
	sums := map[key][]float64{}
	var rows []CollectionRow
	var keys []key
	for i, s := range settings {
		if found[i] == nil {
			continue
		}
		for _, m := range *found[i] {
			k := key{s.At, m.Case, m.By, m.Quantity}
			if sums[k] == nil {
				keys = append(keys, k)
				rows = append(rows, CollectionRow{
					Experiment: s.Experiment, Sweep: s.Sweep, At: s.At, Peers: s.Peers, Case: m.Case, By: m.By, Bytes: m.Bytes, Quantity: m.Quantity,
				})
			}
			sums[k] = append(sums[k], m.Value)
		}
	}
	for i, k := range keys {
		xs := sums[k]
		rows[i].Value, rows[i].Trials = xs[0], len(xs)
		if len(xs) > 1 {
			s := sampleOf(xs)
			rows[i].Value, rows[i].Error = s.mean, s.standardError()
		}
	}
	return rows
}

// WriteText writes a row for every case, with a column for every quantity, and the names of files.
func (r CollectionResult) WriteText(w io.Writer) error {
	if err := results.WriteTable(w, 0, collectionTable(r.Rows)); err != nil {
		return err
	}
	return results.WriteFiles(w, r.Files)
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
				cells[4+slices.Index(quantities, r.Quantity)] = r.cell(decimals(rows, r.Quantity))
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t.Filled()
}

// decimals returns the number of decimals for a quantity's values: none when all are whole.
func decimals(rows []CollectionRow, quantity string) int {
	whole, greatest := true, 0.0
	for _, r := range rows {
		if r.Quantity == quantity {
			whole = whole && r.Value == math.Trunc(r.Value) && r.Error == 0
			greatest = max(greatest, r.Value)
		}
	}
	switch {
	case whole:
		return 0
	case greatest < 10:
		return 4
	}
	return 3
}

// cell returns the value with the half of its 95 % interval.
func (r CollectionRow) cell(decimals int) string {
	if r.Trials < 2 {
		return fixed(r.Value, decimals)
	}
	return fixed(r.Value, decimals) + " ± " + fixed(r.mean().Half, decimals)
}

// write writes the rows as CSV, a plot for each quantity where something is varied, and the report that holds all of
// them.
func (o *Options) write(name string, rows []CollectionRow, unfinished [][2]string) ([]string, error) {
	out := report.Folder{Dir: o.Out}
	records := [][]string{{"sweep", "at", "peers", "case", "by", "bytes", "quantity", "value", "standard_error", "trials"}}
	for _, r := range rows {
		records = append(records, []string{
			r.Sweep, report.Number(r.At), strconv.Itoa(r.Peers), r.Case, r.By, strconv.Itoa(r.Bytes), r.Quantity, report.Number(r.Value), report.Number(r.Error),
			strconv.Itoa(r.Trials),
		})
	}
	results.Found{Experiment: name, Version: o.Version, Rows: rows, Outcomes: collectionOutcomes(rows)}.Write(&out)
	out.CSV("rows.csv", records)
	out.Report(report.Page{
		Name: name, Title: titleOf(name), Version: o.Version, Parameters: append(o.parameters(name, rows), unfinished...),
		Sections: []report.Section{{Title: "Results", Table: collectionTable(rows), Drawings: collectionDrawings(name, rows)}},
		Terms:    collectionTerms[name],
	})
	return out.Files, out.Err
}

func collectionOutcomes(rows []CollectionRow) (out []results.Outcome) {
	for _, r := range rows {
		of := r.title()
		if r.Sweep != "" {
			of += fmt.Sprintf(", %s=%s", r.Sweep, report.Number(r.At))
		}
		out = append(out, results.OutcomeOf(of, r.Quantity, r.mean()))
	}
	return out
}

// mean returns the value with its interval.
func (r CollectionRow) mean() statistics.Mean { return statistics.MeanWith(r.Value, r.Error, r.Trials) }

// parameters returns the settings of all runs, for the report.
func (o *Options) parameters(name string, rows []CollectionRow) [][2]string {
	peers := "as many as the data has"
	if o.Peers > 0 {
		peers = strconv.Itoa(o.Peers)
	}
	out := [][2]string{
		{"collections", o.Data},
		{"peers", peers},
		{"trials", fmt.Sprintf("%d; a value is their mean ± the half of its 95 %% interval, by Student's t distribution", o.Trials)},
		{"seed", strconv.FormatUint(o.Seed, 10)},
		{"program", runs.Program()},
	}
	if rows[0].Sweep != "" {
		out = append(out, [2]string{"sweep", o.Sweep + " (" + unitOf(name, rows[0].Sweep) + ")"})
	}
	return out
}

// collectionTerms explain the cases and quantities.
var collectionTerms = map[string][][2]string{
	Neighbours: {
		{"by exact, by sample", "the policies know every overlap exactly, or estimate it from the first KiB of every summary, as peers do"},
		{"biggest", "not a policy of ours: the peers with the largest collections, the same for all"},
		{"withheld keys answered", "of the asker's own keys that 2 to 10 others hold and that it was made to forget: the share that a neighbour has"},
		{"lacked keys answered", "of keys drawn evenly from all that the asker lacks and another holds: the share that a neighbour has"},
		{"clustering, path length, pairs connected", "of the graph of links: the mean clustering coefficient, the mean of the shortest paths, the share of pairs that have one"},
	},
	Overlaps: {
		{"venn", "the first bytes of summaries: a deep sample, then a filter that deepens; the collections' sizes are in its header"},
		{"theta", "the smallest 64-bit hashes (KMV)"},
		{"MinHash", "8 bits of the smallest hash of each bucket, in one permutation"},
		{"HyperLogLog", "6-bit registers of both; the intersection from the sizes and the union"},
		{"error", "root mean square over 300 pairs of peers, as a share of the smaller collection; the sizes of both are known"},
	},
	Budget: {
		{"bytes", "that a peer has for summaries, headers included; planned as nodes plan: samples first, then the part of most value a byte"},
		{"expected false matches", "how many peers a key that nobody holds would match; an unknown peer counts as a match"},
		{"recall", "share of queries that reach a holder among the peers known, when all that match are asked"},
		{"wasted probes per query", "peers asked in vain, the likeliest first, until one has the key"},
	},
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
			Name: r.title(), Value: r.Value, Half: r.mean().Half, Label: fixed(r.Value, decimals(rows, quantity)), Colour: slices.Index(cases, r.Case),
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
	axis, _, _ := strings.Cut(unitOf(rows[0].Experiment, rows[0].Sweep), ",")
	place := f.LayOut(axis, false, report.Number, values)
	for _, r := range rows {
		i := slices.IndexFunc(f.Lines, func(l report.Line) bool { return l.Name == r.title() })
		if i < 0 {
			i = len(f.Lines)
			f.Lines = append(f.Lines, report.Line{Name: r.title()})
		}
		f.Lines[i].Points = append(f.Lines[i].Points, report.Point{X: place(r.At), Y: r.Value, Half: r.mean().Half})
	}
	for _, l := range f.Lines {
		l.Sort()
	}
	return f
}

func fixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

func titleOf(name string) string {
	i := slices.IndexFunc(Collections(), func(i Info) bool { return i.Name == name })
	return Collections()[i].Title
}
