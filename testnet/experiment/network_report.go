package experiment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// write writes the rows as a table, the plots, and the report that holds all of them. Of so many runs some may be missing.
func (o *NetworkOptions) write(name string, r NetworkResult, runs int) ([]string, error) {
	out := output{dir: o.Out}
	out.found(found{name, o.Version, r.Rows, networkOutcomes(r.Rows)})
	out.csv("rows.csv", networkRecords(r.Rows))
	var terms [][2]string
	for _, s := range o.Strategies {
		terms = append(terms, [2]string{s.Name, s.Source + ". " + s.Model})
	}
	out.report(report{
		Name: name, Title: titleOf(Networks(), name), Version: o.Version, Parameters: append(o.parameters(r), unfinished(len(r.Rows), runs)...), Terms: terms,
		Sections: []section{
			{Title: "Results", Table: networkTable(r.Rows), Drawings: networkDrawings(name, r.Rows)},
			{Title: "Every run: what it follows from, and its trace", Table: tracesTable(r.Rows), Folded: true},
		},
	})
	return out.files, out.err
}

// networkOutcomes are the quantities that are drawn, of every strategy at every point.
func networkOutcomes(rows []NetworkRow) (out []Outcome) {
	name := func(r NetworkRow) string {
		of := fmt.Sprintf("%s, %d peers", r.Strategy, r.Peers)
		if r.Sweep != "" && r.Sweep != sweepPeers.Name {
			of += ", " + r.Point()
		}
		return of
	}
	for _, of := range distinct(rows, name) {
		for _, m := range networkMeasures {
			var values []float64
			for _, r := range rows {
				if name(r) == of {
					values = append(values, m.of(r))
				}
			}
			out = append(out, outcome(of, m.title, scenario.MeanOf(values)))
		}
	}
	return out
}

func titleOf(list []Info, name string) string {
	for _, i := range list {
		if i.Name == name {
			return i.Title
		}
	}
	return name
}

// parameters are what all runs have in common.
func (o *NetworkOptions) parameters(r NetworkResult) [][2]string {
	want := "one holder"
	if o.All {
		want = "all holders"
	}
	topology := o.Topology
	setDefault(&topology.Kind, "random")
	out := [][2]string{
		{"peers", strconv.Itoa(o.Peers)},
		{"collections", o.Data},
		{"keys of every peer", strconv.Itoa(o.Keys)},
		{"topology", string(topology.Kind)},
		{"queries", fmt.Sprintf("%d of every run, for %s", o.Queries, want)},
		{"virtual time", fmt.Sprintf("%.0f s before the first query, %.0f s of queries, %.0f s after", warmup.Seconds(), o.Asking.Seconds(), patience.Seconds())},
		{"trials", strconv.Itoa(o.Trials)},
		{"seed", strconv.FormatUint(o.Seed, 10)},
		{"program", program()},
	}
	for _, f := range o.Fixed {
		out = append(out, [2]string{"in all runs", f})
	}
	if r.Rows[0].Sweep != "" {
		swept := variable(networkSweeps, r.Rows[0].Sweep)
		out = slices.DeleteFunc(out, func(p [2]string) bool { return p[0] == swept.Name })
		out = append(out, sweepParameter(o.Sweep, swept))
	}
	if o.Data != clustered {
		out[slices.IndexFunc(out, func(p [2]string) bool { return p[0] == "keys of every peer" })][1] = "as in the data"
	}
	return out
}

// networkTable is what one reads first: a line for every run, with few digits.
func networkTable(rows []NetworkRow) table {
	t := table{Head: []string{
		"strategy", "recall", "messages a query", "wasted probes a query", "upkeep a peer, kB", "to connect, kB", "bytes a query", "hops",
		"latency p50, ms", "latency p99, ms", "load p99 / mean",
	}}
	swept := rows[0].Sweep != ""
	trials := slices.ContainsFunc(rows, func(r NetworkRow) bool { return r.Trial > 0 })
	if trials {
		t.Head = slices.Insert(t.Head, 1, "trial")
	}
	if swept {
		t.Head = slices.Insert(t.Head, 0, variable(networkSweeps, rows[0].Sweep).axis)
	}
	for _, r := range rows {
		cells := []string{
			r.Strategy, fixed(r.Recall, 4), fixed(r.MessagesPerQuery, 2), fixed(r.WastedProbesPerQuery, 3), fixed(r.UpkeepBytesPerPeer/1000, 1),
			fixed(r.ConnectBytesPerPeer/1000, 1),
			fixed(r.QueryBytes, 0), fixed(r.Hops, 2), fixed(r.LatencyP50, 0), fixed(r.LatencyP99, 0), fixed(r.LoadP99, 1),
		}
		if trials {
			cells = slices.Insert(cells, 1, strconv.Itoa(r.Trial+1))
		}
		if swept {
			cells = slices.Insert(cells, 0, r.pointLabel())
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func fixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

// tracesTable is what repeats a run, and shows that it was the same.
func tracesTable(rows []NetworkRow) table {
	t := table{Head: []string{"run", "seed", "peers", "online", "keys a peer", "queries", "wall, s", "state a peer, kB", "trace"}}
	for _, r := range rows {
		run := r.Strategy
		if r.Sweep != "" {
			run += ", " + r.Point()
		}
		t.Rows = append(t.Rows, []string{
			run, strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Peers), fixed(r.Online, 1), strconv.Itoa(r.Keys), strconv.Itoa(r.Queries),
			fixed(r.WallSeconds, 1), stateLabel(r), r.TraceHash,
		})
	}
	return t
}

// stateLabel is what a peer's state takes, in kB, where that is known.
func stateLabel(r NetworkRow) string {
	if r.StateBytes == 0 {
		return "–"
	}
	return fixed(r.StateBytes/1000, 1)
}

// networkRecords are the rows as a table: the fields of NetworkRow under their names in JSON, in their order.
func networkRecords(rows []NetworkRow) [][]string {
	records := [][]string{{
		"strategy", "peers", "sweep", "value", "trial", "recall", "messages_per_query", "wasted_probes_per_query",
		"upkeep_bytes_per_peer", "connect_bytes_per_peer", "query_bytes", "hops", "latency_ms_p50", "latency_ms_p99", "trace_hash", "seed", "keys_per_peer",
		"queries", "online", "upkeep_bytes_p99", "load_p99_over_mean", "load_max_over_mean", "virtual_seconds", "wall_seconds",
		"state_bytes_per_peer", "topology_components",
	}}
	for _, r := range rows {
		fields := map[string]json.RawMessage{}
		b, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(b, &fields)
		}
		if err != nil {
			panic(err) // numbers and strings
		}
		record := make([]string, len(records[0]))
		for i, name := range records[0] {
			record[i] = plain(fields[name])
		}
		records = append(records, record)
	}
	return records
}

// plain is a JSON number or string without quotes.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(bytes.TrimSpace(raw))
}

// networkMeasure is a quantity that is drawn.
type networkMeasure struct {
	name, title string
	log         bool
	decimals    int
	of          func(NetworkRow) float64
}

var networkMeasures = []networkMeasure{
	{"recall", "recall", false, 4, func(r NetworkRow) float64 { return r.Recall }},
	{"messages", "messages per query", true, 2, func(r NetworkRow) float64 { return r.MessagesPerQuery }},
	{"wasted", "wasted probes per query", true, 3, func(r NetworkRow) float64 { return r.WastedProbesPerQuery }},
	{"upkeep", "upkeep per peer, kB", true, 1, func(r NetworkRow) float64 { return r.UpkeepBytesPerPeer / 1000 }},
	{"bytes", "bytes per query", true, 0, func(r NetworkRow) float64 { return r.QueryBytes }},
	{"hops", "hops to the first holder", false, 2, func(r NetworkRow) float64 { return r.Hops }},
	{"latency-p50", "latency, median, ms", true, 0, func(r NetworkRow) float64 { return r.LatencyP50 }},
	{"latency-p99", "latency, 99th percentile, ms", true, 0, func(r NetworkRow) float64 { return r.LatencyP99 }},
	{"load", "load: 99th percentile of peers / mean", false, 1, func(r NetworkRow) float64 { return r.LoadP99 }},
}

// networkDrawings are a chart of each quantity: over the sweep with a line for each strategy, or else with a dot for each.
func networkDrawings(name string, rows []NetworkRow) []drawing {
	var out []drawing
	for _, m := range networkMeasures {
		if rows[0].Sweep == "" {
			out = append(out, m.chart(name, rows))
		} else if f := m.figure(name, rows); f.drawable() {
			out = append(out, f)
		}
	}
	return out
}

func (m networkMeasure) label(x float64) string {
	if x == 0 {
		return "0"
	}
	return fixed(x, m.decimals)
}

func (m networkMeasure) chart(name string, rows []NetworkRow) dotChart {
	d := dotChart{name: name + "-" + m.name, title: m.title, log: m.log, share: m.name == "recall"}
	for i, s := range strategiesOf(rows) {
		var values []float64
		for _, r := range rows {
			if r.Strategy == s {
				values = append(values, m.of(r))
			}
		}
		mean := scenario.MeanOf(values)
		d.dots = append(d.dots, dot{name: s, value: mean.Value, half: mean.Half, label: m.label(mean.Value), colour: i})
	}
	return d
}

func (m networkMeasure) figure(name string, rows []NetworkRow) figure {
	swept := variable(networkSweeps, rows[0].Sweep)
	f := figure{name: name + "-" + m.name, y: m.title, logY: m.log, marks: true, share: m.name == "recall"}
	place := f.layOut(swept, values(rows))
	for _, s := range strategiesOf(rows) {
		l := line{Name: s}
		for _, r := range rows {
			if r.Strategy == s {
				l.add(place(r.Value), m.of(r))
			}
		}
		f.lines = append(f.lines, l.mean())
	}
	return f
}

func values(rows []NetworkRow) []float64 {
	var xs []float64
	for _, r := range rows {
		xs = append(xs, r.Value)
	}
	return xs
}

// drawable says whether there is anything to draw: on a logarithmic axis there is no place for 0.
func (f figure) drawable() bool {
	return slices.ContainsFunc(f.lines, func(l line) bool {
		return slices.ContainsFunc(l.Points, func(p point) bool { return !f.logY || p.Y > 0 })
	})
}

func strategiesOf(rows []NetworkRow) []string {
	return distinct(rows, func(r NetworkRow) string { return r.Strategy })
}

// distinct are the names of rows, each once, in the order of the first that has it.
func distinct[R any](rows []R, name func(R) string) []string {
	var names []string
	for _, r := range rows {
		if n := name(r); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// mean is the line with one point for each x: the mean of those there are, with its interval.
func (l line) mean() line {
	out := line{Name: l.Name, Dots: l.Dots}
	values := map[float64][]float64{}
	for _, p := range l.Points {
		if values[p.X] == nil {
			out.add(p.X, 0)
		}
		values[p.X] = append(values[p.X], p.Y)
	}
	for i, p := range out.Points {
		m := scenario.MeanOf(values[p.X])
		out.Points[i].Y, out.Points[i].Half = m.Value, m.Half
	}
	out.sort()
	return out
}

// sort puts the line's points in the order in which they are joined.
func (l line) sort() {
	slices.SortFunc(l.Points, func(a, b point) int { return cmp.Compare(a.X, b.X) })
}
