package experiment

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/venn-p2p/venn/testnet/strategy"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Parse(reportText))

// write writes the rows as a table, the plots, and the report that holds all of them.
func (o *NetworkOptions) write(name string, r NetworkResult) (files []string, err error) {
	path := filepath.Join(o.Out, name+".csv")
	if err := writeCSV(path, networkRecords(r.Rows)); err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	files = append(files, path)
	var plots []template.HTML
	for _, f := range networkFigures(name, r.Rows) {
		var svg bytes.Buffer
		if err := f.svg(&svg); err != nil {
			return files, fmt.Errorf("experiment: %s: %w", f.name, err)
		}
		path := filepath.Join(o.Out, f.name+".svg")
		if err := os.WriteFile(path, svg.Bytes(), 0o666); err != nil {
			return files, fmt.Errorf("experiment: %w", err)
		}
		files = append(files, path)
		plots = append(plots, template.HTML(inline(svg.Bytes())))
	}
	path = filepath.Join(o.Out, "report.html")
	if err := o.report(path, name, r, plots); err != nil {
		return files, fmt.Errorf("experiment: %w", err)
	}
	return append(files, path), nil
}

// inline is an SVG file without what must not stand within a page.
func inline(svg []byte) []byte {
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		return svg[i:]
	}
	return svg
}

func (o *NetworkOptions) report(path, name string, r NetworkResult, plots []template.HTML) error {
	records := networkRecords(r.Rows)
	var b bytes.Buffer
	err := reportTemplate.Execute(&b, struct {
		Name, Title, Version string
		Parameters           [][2]string
		Strategies           []strategy.Strategy
		Plots                []template.HTML
		Head                 []string
		Rows                 [][]string
	}{
		name, networkTitle(name), o.Version, o.parameters(), o.Strategies, plots, records[0], records[1:],
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

func networkTitle(name string) string {
	for _, i := range Networks() {
		if i.Name == name {
			return i.Title
		}
	}
	return name
}

// parameters are what all runs have in common.
func (o *NetworkOptions) parameters() [][2]string {
	want := "one holder"
	if o.All {
		want = "all holders"
	}
	topology := o.Topology
	setDefault(&topology.Kind, "random")
	return [][2]string{
		{"peers", strconv.Itoa(o.Peers)},
		{"keys of every peer", strconv.Itoa(o.Keys)},
		{"collections", o.Data},
		{"topology", string(topology.Kind)},
		{"sweep", o.Sweep},
		{"trials", strconv.Itoa(o.Trials)},
		{"queries", strconv.Itoa(o.Queries) + " for " + want},
		{"seed", strconv.FormatUint(o.Seed, 10)},
		{"virtual time", fmt.Sprintf("%v before the first query, %v of queries, %v after", warmup, o.Asking, patience)},
	}
}

// networkRecords are the rows as a table: the fields of NetworkRow under their names in JSON, in their order.
func networkRecords(rows []NetworkRow) [][]string {
	records := [][]string{{
		"strategy", "peers", "sweep", "value", "trial", "recall", "messages_per_query", "wasted_probes_per_query",
		"upkeep_bytes_per_peer", "query_bytes", "hops", "latency_ms_p50", "latency_ms_p99", "trace_hash", "seed", "keys_per_peer",
		"queries", "online", "upkeep_bytes_p99", "load_p99_over_mean", "load_max_over_mean", "virtual_seconds", "wall_seconds",
		"memory_bytes", "topology_components",
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

// plain is a JSON number or string without quotes; empty for what is missing.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var x float64
	if json.Unmarshal(raw, &x) == nil {
		return number(x)
	}
	return string(raw)
}

// networkFigures are the plots: over the sweep with a line for each strategy, or else with a point for each.
func networkFigures(name string, rows []NetworkRow) []figure {
	var figures []figure
	for _, m := range []struct {
		name, title string
		log         bool
		of          func(NetworkRow) float64
	}{
		{"recall", "recall", false, func(r NetworkRow) float64 { return r.Recall }},
		{"messages", "messages per query", true, func(r NetworkRow) float64 { return r.MessagesPerQuery }},
		{"wasted", "wasted probes per query", true, func(r NetworkRow) float64 { return r.WastedProbesPerQuery }},
		{"upkeep", "upkeep per peer, bytes", true, func(r NetworkRow) float64 { return r.UpkeepBytesPerPeer }},
		{"latency", "latency of the 99th percentile, ms", true, func(r NetworkRow) float64 { return r.LatencyP99 }},
	} {
		f := figure{name: name + "-" + m.name, title: m.title, y: m.title, logY: m.log}
		swept := rows[0].Sweep != ""
		f.x = rows[0].Sweep
		if !swept {
			f.x, f.logX = "messages per query", true
			if m.name == "messages" {
				continue
			}
		}
		for _, s := range strategiesOf(rows) {
			l := line{name: s, dots: !swept}
			for _, r := range rows {
				x := r.Value
				if !swept {
					x = r.MessagesPerQuery
				}
				if r.Strategy == s && (!f.logX || x > 0) {
					l.add(x, m.of(r))
				}
			}
			f.lines = append(f.lines, l.mean())
		}
		if f.drawable() {
			figures = append(figures, f)
		}
	}
	return figures
}

// drawable says whether there is anything to draw: on a logarithmic axis there is no place for 0.
func (f figure) drawable() bool {
	return slices.ContainsFunc(f.lines, func(l line) bool {
		return slices.ContainsFunc(l.points, func(p point) bool { return !f.logY || p.y > 0 })
	})
}

func strategiesOf(rows []NetworkRow) []string {
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.Strategy) {
			names = append(names, r.Strategy)
		}
	}
	return names
}

// mean is the line with one point for each x: the mean of those there are.
func (l line) mean() line {
	out := line{name: l.name, dots: l.dots}
	sums, counts := map[float64]float64{}, map[float64]float64{}
	for _, p := range l.points {
		if counts[p.x] == 0 {
			out.add(p.x, 0)
		}
		sums[p.x] += p.y
		counts[p.x]++
	}
	for i, p := range out.points {
		out.points[i].y = sums[p.x] / counts[p.x]
	}
	slices.SortFunc(out.points, func(a, b point) int {
		if a.x < b.x {
			return -1
		}
		return 1
	})
	return out
}
