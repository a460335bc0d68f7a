package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/statistics"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// write writes the rows as a table, the plots, and the report that holds all of them. Of the runs runs some may be
// missing.
func (o *NetworkOptions) write(name string, r NetworkResult, runs int) ([]string, error) {
	out := report.Folder{Dir: o.Out}
	results.Found{Experiment: name, Version: o.Version, Rows: r.Rows, Outcomes: networkOutcomes(r.Rows)}.Write(&out)
	out.CSV("rows.csv", networkRecords(r.Rows))
	out.CSV("kinds.csv", kindRecords(r.Rows))
	var terms [][2]string
	for _, s := range o.Strategies {
		terms = append(terms, [2]string{s.Name, s.Source + ". " + s.Model})
	}
	out.Report(report.Page{
		Name: name, Title: titleOf(Networks(), name), Version: o.Version, Parameters: append(o.parameters(r), report.Unfinished(len(r.Rows), runs)...), Terms: terms,
		Sections: slices.DeleteFunc([]report.Section{
			{Title: "Results", Table: r.results(), Drawings: networkDrawings(name, r)},
			{Title: "What peers know, by the rate of their lines", Table: linesTable(r), Folded: true},
			{Title: "What peers send for upkeep, by kind of message", Table: kindTable(r.Rows), Folded: true},
			{Title: "Every run: what it follows from, and its trace", Table: tracesTable(r.Rows), Folded: true},
		}, func(s report.Section) bool { return len(s.Table.Rows) == 0 }),
	})
	return out.Files, out.Err
}

// networkOutcomes are the quantities that are drawn, of every strategy at every point.
func networkOutcomes(rows []NetworkRow) (out []results.Outcome) {
	name := func(r NetworkRow) string {
		of := fmt.Sprintf("%s, %d peers", r.Strategy, r.Peers)
		for _, c := range r.At {
			if c.Name != sweepPeers.Name {
				of += ", " + c.Name + "=" + c.label()
			}
		}
		return of
	}
	for _, of := range results.Distinct(rows, name) {
		trials := slices.DeleteFunc(slices.Clone(rows), func(r NetworkRow) bool { return name(r) != of })
		var seeds []uint64
		for _, r := range trials {
			seeds = append(seeds, r.Seed)
		}
		for _, m := range networkMeasures {
			if mean := m.over(trials); mean.N > 0 {
				out = append(out, results.OutcomeOf(of, m.title, mean).With(seeds, m.values(trials)))
			}
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
	queries := fmt.Sprintf("%d of every run, for %s, like %s", o.Queries, want, o.Like)
	if holdings.CheckRule(o.Like) != nil {
		queries = fmt.Sprintf("those of the log %s, for %s", o.Like, want)
	}
	topology := o.Topology
	setDefault(&topology.Kind, "random")
	out := [][2]string{
		{"peers", strconv.Itoa(o.Peers)},
		{"collections", o.Data},
		{"keys of every peer", strconv.Itoa(o.Keys)},
		{"topology", string(topology.Kind)},
		{"queries", queries},
		{"virtual time", fmt.Sprintf("%.0f s before the first query, %.0f s of queries, %.0f s after", o.Warmup.Seconds(), o.Asking.Seconds(), o.Patience.Seconds())},
		{"trials", strconv.Itoa(o.Trials)},
		{"seed", strconv.FormatUint(o.Seed, 10)},
		{"program", program()},
		{"simulator", sim.Model},
	}
	if o.Links != "" {
		out = append(out, [2]string{"lines", o.Links})
	}
	if r.Experiment == Scale && !o.says(strategy.Upkeep.Name) && slices.ContainsFunc(r.Rows, func(x NetworkRow) bool { return x.Allowed > 0 }) {
		out = append(out, [2]string{"upkeep of the others", "as many bytes a second as venn sent in the same network, and to connect besides"})
	}
	for _, f := range o.Fixed {
		out = append(out, [2]string{"in all runs", f})
	}
	for i, c := range r.Rows[0].At {
		asked := ""
		if i < len(o.Sweeps) {
			asked = o.Sweeps[i]
		}
		out = slices.DeleteFunc(out, func(p [2]string) bool { return p[0] == c.Name })
		out = append(out, sweepParameter(asked, variable(variablesOf(o.Strategies), c.Name)))
	}
	if o.Data != clustered {
		out[slices.IndexFunc(out, func(p [2]string) bool { return p[0] == "keys of every peer" })][1] = "as in the data"
	}
	return out
}

// networkTable is what one reads first: a line for every strategy at every point, with few digits.
func (r NetworkResult) results() report.Table {
	rows := r.Rows
	t := report.Table{Head: []string{"strategy"}}
	for _, c := range rows[0].At {
		t.Head = append(t.Head, networkVariable(c.Name).axis)
	}
	for _, m := range networkMeasures {
		t.Head = append(t.Head, m.title)
	}
	t.Head = append(t.Head, "trials")
	for _, g := range cases(rows) {
		cells := []string{g[0].Strategy}
		for _, c := range g[0].At {
			cells = append(cells, c.label())
		}
		for _, m := range networkMeasures {
			cells = append(cells, m.mean(g))
		}
		t.Rows = append(t.Rows, append(cells, strconv.Itoa(len(g))))
	}
	if len(r.Slopes) == 0 {
		return t
	}
	for _, s := range strategiesOf(rows) {
		cells := make([]string, 1, len(t.Head))
		cells[0] = s
		for i := range rows[0].At {
			cells = append(cells, map[int]string{0: "slope"}[i])
		}
		for _, m := range networkMeasures {
			cells = append(cells, r.slope(s, m.title))
		}
		t.Rows = append(t.Rows, append(cells, ""))
	}
	return t
}

// cases are the rows by strategy and point: those of one case are trials of it.
func cases(rows []NetworkRow) (out [][]NetworkRow) {
	where := func(r NetworkRow) string { return fmt.Sprint(r.Strategy, " ", r.Peers, " ", r.Point()) }
	for _, name := range results.Distinct(rows, where) {
		var trials []NetworkRow
		for _, r := range rows {
			if where(r) == name {
				trials = append(trials, r)
			}
		}
		out = append(out, trials)
	}
	return out
}

// values are those of trials.
func (m networkMeasure) values(trials []NetworkRow) (out []float64) {
	for _, r := range trials {
		out = append(out, m.of(r))
	}
	return out
}

// over is the mean of trials with its interval. That of recall is a share of the queries.
func (m networkMeasure) over(trials []NetworkRow) statistics.Mean {
	if m.name != "recall" {
		return statistics.MeanOf(m.values(trials))
	}
	queries := 0
	for _, r := range trials {
		queries += r.Queries
	}
	return statistics.ShareOf(m.values(trials), queries)
}

// mean is the mean of trials, with the half of its interval if it is known.
func (m networkMeasure) mean(trials []NetworkRow) string {
	mean := m.over(trials)
	if mean.N == 0 {
		return unknown
	}
	if mean.N == 1 && mean.Half == 0 {
		return fixed(mean.Value, m.decimals)
	}
	return fixed(mean.Value, m.decimals) + " ±" + fixed(mean.Half, m.decimals)
}

// Table is the result for people: a head and a line for every strategy at every point. Figures are means over the
// trials, ± the half of their 95 % interval. A single trial has its trace.
func (r NetworkResult) Table() (head []string, lines [][]string) {
	one := !slices.ContainsFunc(r.Rows, func(x NetworkRow) bool { return x.Trial > 0 })
	head = []string{"STRATEGY", "PEERS", "SWEEP"}
	for _, m := range networkMeasures {
		if m.head != "" {
			head = append(head, m.head)
		}
	}
	last := "TRIALS"
	if one {
		last = "TRACE"
	}
	head = append(head, last)
	for _, g := range cases(r.Rows) {
		line := []string{g[0].Strategy, strconv.Itoa(g[0].Peers), g[0].Point()}
		for _, m := range networkMeasures {
			if m.head != "" {
				line = append(line, m.mean(g))
			}
		}
		end := strconv.Itoa(len(g))
		if one {
			end = fmt.Sprintf("%.12s", g[0].TraceHash)
		}
		lines = append(lines, append(line, end))
	}
	return head, append(lines, r.slopeLines()...)
}

// slopeLines are the slopes, a line for each strategy.
func (r NetworkResult) slopeLines() (lines [][]string) {
	if len(r.Slopes) == 0 {
		return nil
	}
	for _, s := range strategiesOf(r.Rows) {
		line := []string{s, "slope", ""}
		for _, m := range networkMeasures {
			if m.head != "" {
				line = append(line, r.slope(s, m.title))
			}
		}
		lines = append(lines, append(line, ""))
	}
	return lines
}

// Lines is what peers know by the rate of their lines, for people. It has a head and a line for every strategy, point
// and rate, with means over the trials. A trial without peers of a rate counts as 0 in their number, and in nothing
// else. It is empty where all lines are the same.
func (r NetworkResult) Lines() (head []string, lines [][]string) {
	for _, g := range cases(r.Rows) {
		byRate := map[uint64][]sim.Known{}
		for _, row := range g {
			for _, k := range row.Lines {
				byRate[k.Rate] = append(byRate[k.Rate], k)
			}
		}
		for _, rate := range slices.Sorted(maps.Keys(byRate)) {
			peers := 0
			var covers, bytes []float64
			for _, k := range byRate[rate] {
				peers += k.Peers
				bytes = append(bytes, k.DirectoryBytes/1000)
				if k.Covers >= 0 {
					covers = append(covers, k.Covers)
				}
			}
			share := unknown
			if len(covers) > 0 {
				share = fixed(statistics.MeanOf(covers).Value, 4)
			}
			lines = append(lines, []string{
				g[0].Strategy, strconv.Itoa(g[0].Peers), g[0].Point(), report.Number(float64(rate) / 1000),
				fixed(float64(peers)/float64(len(g)), 0), share, fixed(statistics.MeanOf(bytes).Value, 1),
			})
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	return []string{"STRATEGY", "PEERS", "SWEEP", "LINE KBIT/S", "OF THEM", "COVERS", "DIRECTORY KB"}, lines
}

// linesTable is that for the report.
func linesTable(r NetworkResult) report.Table {
	head, lines := r.Lines()
	for i := range head {
		head[i] = strings.ToLower(head[i])
	}
	return report.Table{Head: head, Rows: lines}
}

// kindTable is what peers send for upkeep by kind of message: the mean over the trials.
func kindTable(rows []NetworkRow) report.Table {
	t := report.Table{Head: []string{"case", "kind of message", "messages a peer", "kB a peer", "share"}}
	for _, g := range cases(rows) {
		all := 0.0
		for _, r := range g {
			all += r.UpkeepBytesPerPeer
		}
		type kind struct{ messages, bytes float64 }
		sums, names := map[string]kind{}, []string{}
		for _, r := range g {
			for _, k := range r.Kinds {
				if _, known := sums[k.Name]; !known {
					names = append(names, k.Name)
				}
				s := sums[k.Name]
				sums[k.Name] = kind{s.messages + float64(k.Messages)/float64(r.Peers), s.bytes + float64(k.Bytes)/float64(r.Peers)}
			}
		}
		of := g[0].Strategy
		if p := g[0].Point(); p != "" {
			of += ", " + p
		}
		for _, n := range names {
			s, trials := sums[n], float64(len(g))
			t.Rows = append(t.Rows, []string{of, n, fixed(s.messages/trials, 1), fixed(s.bytes/trials/1000, 2), fixed(s.bytes/max(1, all), 3)})
		}
	}
	return t
}

// kindRecords are the kinds of every run.
func kindRecords(rows []NetworkRow) [][]string {
	records := [][]string{append(append([]string{"strategy", "peers"}, swept(rows)...), "trial", "seed", "kind", "messages", "bytes")}
	for _, r := range rows {
		for _, k := range r.Kinds {
			record := append([]string{r.Strategy, strconv.Itoa(r.Peers)}, r.coordinates()...)
			records = append(records, append(record, strconv.Itoa(r.Trial), strconv.FormatUint(r.Seed, 10), k.Name,
				strconv.FormatInt(k.Messages, 10), strconv.FormatInt(k.Bytes, 10)))
		}
	}
	return records
}

// swept are the names of what is varied, and is not a column of its own.
func swept(rows []NetworkRow) (names []string) {
	for _, c := range rows[0].At {
		if c.Name != sweepPeers.Name {
			names = append(names, c.Name)
		}
	}
	return names
}

// coordinates are the values of those.
func (r NetworkRow) coordinates() (out []string) {
	for _, c := range r.At {
		if c.Name != sweepPeers.Name {
			out = append(out, report.Number(c.Value))
		}
	}
	return out
}

func fixed(x float64, decimals int) string { return strconv.FormatFloat(x, 'f', decimals, 64) }

// tracesTable is what repeats a run, and shows that it was the same.
func tracesTable(rows []NetworkRow) report.Table {
	t := report.Table{Head: []string{"run", "seed", "peers", "online", "keys a peer", "queries", "wall, s", "state a peer, kB", "trace"}}
	for _, r := range rows {
		run := r.Strategy
		if p := r.Point(); p != "" {
			run += ", " + p
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

// networkRecords are the rows as a table: the fields of NetworkRow under their names in JSON, and a column for each
// sweep.
func networkRecords(rows []NetworkRow) [][]string {
	names := []string{
		"strategy", "peers", "trial", "recall", "messages_per_query", "wasted_probes_per_query",
		"upkeep_bytes_per_peer", "startup_bytes_per_peer", "upkeep_rate", "connect_bytes_per_peer", "covered", "directory_bytes_per_peer", "query_bytes", "hops", "latency_ms_p50", "latency_ms_p99", "trace_hash", "seed", "keys_per_peer",
		"queries", "online", "upkeep_bytes_p99", "load_p99_over_mean", "load_max_over_mean", "virtual_seconds", "wall_seconds",
		"state_bytes_per_peer", "topology_components",
	}
	records := [][]string{slices.Insert(slices.Clone(names), 2, swept(rows)...)}
	for _, r := range rows {
		fields := map[string]json.RawMessage{}
		b, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(b, &fields)
		}
		if err != nil {
			panic(err) // numbers and strings
		}
		record := make([]string, len(names))
		for i, name := range names {
			record[i] = plain(fields[name])
		}
		records = append(records, slices.Insert(record, 2, r.coordinates()...))
	}
	return records
}

// plain is a JSON number or string without quotes.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil { // null is an empty string
		return s
	}
	return string(bytes.TrimSpace(raw))
}

// networkMeasure is a quantity that is drawn.
type networkMeasure struct {
	name, title string
	head        string // in the table for a terminal; "": it is not in it
	log         bool
	decimals    int
	of          func(NetworkRow) float64
}

var networkMeasures = []networkMeasure{
	{"recall", "recall", "RECALL", false, 4, func(r NetworkRow) float64 { return r.Recall }},
	{"messages", "messages per query", "MESSAGES", true, 2, func(r NetworkRow) float64 { return r.MessagesPerQuery }},
	{"wasted", "wasted probes per query", "WASTED", true, 3, func(r NetworkRow) float64 { return r.WastedProbesPerQuery }},
	{"startup", "upkeep per peer until the first query, kB", "START-UP KB", true, 1, func(r NetworkRow) float64 { return r.StartupBytesPerPeer / 1000 }},
	{"rate", "upkeep per peer in the second half of the warm-up, B/s", "RATE B/S", true, 1, func(r NetworkRow) float64 { return r.UpkeepRate }},
	{"upkeep", "upkeep per peer in all of the run, kB", "", true, 1, func(r NetworkRow) float64 { return r.UpkeepBytesPerPeer / 1000 }},
	{"connect", "to connect, kB of upkeep", "TO CONNECT KB", true, 1, func(r NetworkRow) float64 { return r.ConnectBytesPerPeer / 1000 }},
	{"covered", "share of the peers covered by a query", "COVERED", false, 4, func(r NetworkRow) float64 { return known(r.Covered) }},
	{"directory", "directory per peer, kB", "DIRECTORY KB", true, 1, func(r NetworkRow) float64 { return known(r.DirectoryBytes) / 1000 }},
	{"bytes", "bytes per query", "BYTES/QUERY", true, 0, func(r NetworkRow) float64 { return r.QueryBytes }},
	{"hops", "hops to the first holder", "HOPS", false, 2, func(r NetworkRow) float64 { return r.ofAnswers(r.Hops) }},
	{"latency-p50", "latency, median, ms", "P50 MS", true, 0, func(r NetworkRow) float64 { return r.ofAnswers(r.LatencyP50) }},
	{"latency-p99", "latency, 99th percentile, ms", "P99 MS", true, 0, func(r NetworkRow) float64 { return r.ofAnswers(r.LatencyP99) }},
	{"load", "load: 99th percentile of peers / mean", "", false, 1, func(r NetworkRow) float64 { return r.LoadP99 }},
}

// unknown stands for a quantity that a strategy does not say.
const unknown = "–"

// ofAnswers is a quantity of the queries that found a holder; not a number where none did.
func (r NetworkRow) ofAnswers(x float64) float64 {
	if r.Recall == 0 {
		return math.NaN()
	}
	return x
}

// known is a quantity; not a number if it is not known.
func known(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// networkDrawings are a chart of each quantity: over the sweep with a line for each strategy, or else with a dot for
// each.
func networkDrawings(name string, r NetworkResult) []report.Drawing {
	var out []report.Drawing
	for _, m := range networkMeasures {
		if len(r.Rows[0].At) == 0 {
			if d := m.chart(name, r.Rows); len(d.Dots) > 0 {
				out = append(out, d)
			}
		} else if f := m.figure(name, r); f.Drawable() {
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

func (m networkMeasure) chart(name string, rows []NetworkRow) report.DotChart {
	d := report.DotChart{Name: name + "-" + m.name, Title: m.title, Log: m.log, Share: m.share()}
	for i, s := range strategiesOf(rows) {
		mean := m.over(slices.DeleteFunc(slices.Clone(rows), func(r NetworkRow) bool { return r.Strategy != s }))
		if mean.N == 0 {
			continue
		}
		d.Dots = append(d.Dots, report.Dot{Name: s, Value: mean.Value, Half: mean.Half, Label: m.label(mean.Value), Colour: i})
	}
	return d
}

// share says whether the quantity is one, 1 at most.
func (m networkMeasure) share() bool { return m.name == "recall" || m.name == "covered" }

// figure is drawn over the first sweep, with a line for each strategy and value of the others. Over the size of the
// network both axes are logarithmic in Scale, and the legend says the slopes.
func (m networkMeasure) figure(name string, result NetworkResult) report.Figure {
	rows, sloped := result.Rows, len(result.Slopes) > 0
	f := report.Figure{Name: name + "-" + m.name, Y: m.title, LogY: m.log || sloped, Marks: true, Share: m.share()}
	var xs []float64
	for _, r := range rows {
		xs = append(xs, r.At[0].Value)
	}
	swept := networkVariable(rows[0].At[0].Name)
	place := f.LayOut(swept.axis, swept.time, swept.label, xs)
	f.LogX = f.LogX || sloped
	of := func(r NetworkRow) string {
		return strings.Join(append([]string{r.Strategy}, strings.Fields(pointOf(r.At[1:]))...), " ")
	}
	for _, name := range results.Distinct(rows, of) {
		l := report.Line{Name: name}
		for _, r := range rows {
			if y := m.of(r); of(r) == name && !math.IsNaN(y) {
				l.Add(place(r.At[0].Value), y)
			}
		}
		if sloped {
			l.Name += ", slope " + result.slope(name, m.title)
		}
		f.Lines = append(f.Lines, l.Mean()) // without points, too: so a strategy has one colour in all figures
	}
	return f
}

func strategiesOf(rows []NetworkRow) []string {
	return results.Distinct(rows, func(r NetworkRow) string { return r.Strategy })
}
