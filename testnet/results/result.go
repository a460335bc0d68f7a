package results

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// Scenarios is the name of the files in a folder of results whose rows are figures.
const Scenarios = "scenarios"

// Result is the result of runs of scenarios, on either engine.
type Result struct {
	Version   string               // version of the program
	Scenarios []*scenario.Scenario // scenarios that were run; one with a sweep is there as its points
	Runs      []*scenario.Run
	Rows      []Row
	Slopes    []Slope // slopes of scenarios that sweep the number of peers, and nothing else
	Files     []string
}

// Sum computes Rows and Slopes from the runs.
func (r *Result) Sum() {
	r.Rows, r.Slopes = Rows(r.Scenarios, r.Runs), nil
	for _, g := range r.groups() {
		r.Slopes = append(r.Slopes, g.slopes()...)
	}
}

// whole returns the scenario to which a point of a sweep belongs; for other scenarios, s itself.
func whole(s *scenario.Scenario) *scenario.Scenario {
	if s.Whole != nil {
		return s.Whole
	}
	return s
}

// Trials reports whether each trial is a row: all runs are of one scenario, which asks for that.
func (r Result) Trials() bool {
	return len(r.Scenarios) > 0 && !slices.ContainsFunc(r.Scenarios, func(s *scenario.Scenario) bool {
		return s.Rows != scenario.Trials || whole(s).Name != whole(r.Scenarios[0]).Name
	})
}

// Name returns the beginning of the names of the result's files.
func (r Result) Name() string {
	if r.Trials() {
		return whole(r.Scenarios[0]).Name
	}
	return Scenarios
}

// MarshalJSON writes a row for every figure of every strategy, or for every trial, see Trials.
func (r Result) MarshalJSON() ([]byte, error) {
	out := struct {
		Experiment string   `json:"experiment,omitempty"`
		Version    string   `json:"version,omitempty"`
		Rows       any      `json:"rows"`
		Slopes     []Slope  `json:"slopes,omitempty"`
		Ahead      []Ahead  `json:"ahead,omitempty"`
		Files      []string `json:"files,omitempty"`
	}{Version: r.Version, Rows: r.rows(), Slopes: r.Slopes, Files: r.Files}
	for _, g := range r.groups() {
		if g.wide() {
			out.Ahead = append(out.Ahead, g.ahead()...)
		}
	}
	if r.Trials() {
		out.Experiment = r.Name()
	}
	return json.Marshal(out)
}

// rows returns the figures, or the trials, as rows for JSON.
func (r Result) rows() any {
	if !r.Trials() {
		return r.Rows
	}
	trials := []trial{}
	for _, run := range r.Runs {
		trials = append(trials, trialOf(r.scenario(run), run))
	}
	return trials
}

// scenario returns the scenario of a run.
func (r Result) scenario(run *scenario.Run) *scenario.Scenario {
	i := slices.IndexFunc(r.Scenarios, func(s *scenario.Scenario) bool { return s.Name == run.Scenario })
	return r.Scenarios[i]
}

// group is a scenario with all points of its sweep, which are shown together.
type group struct {
	of    *scenario.Scenario
	cases []situation
}

// situation is a case: a strategy on an engine at a point of the sweep. Its runs are trials.
type situation struct {
	of               *scenario.Scenario
	strategy, engine string
	rows             map[string]Row
	runs             []*scenario.Run
}

func (r Result) groups() (out []group) {
	for _, s := range r.Scenarios {
		cases := r.situations(s)
		if n := len(out); n > 0 && out[n-1].of == whole(s) {
			out[n-1].cases = append(out[n-1].cases, cases...)
		} else {
			out = append(out, group{whole(s), cases})
		}
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.cases) == 0 })
}

// situations returns the cases of a scenario that have runs.
func (r Result) situations(s *scenario.Scenario) (out []situation) {
	for _, run := range r.Runs {
		if run.Scenario != s.Name {
			continue
		}
		i := slices.IndexFunc(out, func(c situation) bool { return c.strategy == run.Strategy && c.engine == run.Engine })
		if i < 0 {
			i = len(out)
			out = append(out, situation{of: s, strategy: run.Strategy, engine: run.Engine, rows: map[string]Row{}})
		}
		out[i].runs = append(out[i].runs, run)
	}
	for _, row := range r.Rows {
		for i := range out {
			if row.Scenario == s.Name && row.Strategy == out[i].strategy && row.Engine == out[i].engine {
				out[i].rows[row.Figure] = row
			}
		}
	}
	return out
}

// at formats the values of a case's sweeps, as "loss=0.1, budget=10"; empty without a sweep.
func (c situation) at() string { return joined(c.of.At, ", ") }

func joined(at []scenario.Coordinate, by string) string {
	var out []string
	for _, x := range at {
		out = append(out, x.String())
	}
	return strings.Join(out, by)
}

func (c situation) name() string { return strings.TrimSuffix(c.strategy+", "+c.at(), ", ") }

// figures returns the figures that at least one case has.
func (g group) figures() []scenario.Figure {
	return slices.DeleteFunc(g.of.Figures(), func(f scenario.Figure) bool {
		return !slices.ContainsFunc(g.cases, func(c situation) bool { _, has := c.rows[f.Name]; return has })
	})
}

// wide reports whether tables have a line for each case, not a column.
func (g group) wide() bool { return g.of.Swept() || g.of.Rows == scenario.Trials }

// table returns a table with a line for each case and a column for each figure. After them comes a line with each
// strategy's slopes, if there are any.
func (g group) table(slopes []Slope, head func(scenario.Figure) string) report.Table {
	hosts := slices.ContainsFunc(g.cases, func(c situation) bool { return c.engine == scenario.Real })
	one := !slices.ContainsFunc(g.cases, func(c situation) bool { return len(c.runs) > 1 })
	line := func(c [5]string, figures []string) (out []string) {
		out = []string{c[0]}
		if hosts {
			out = append(out, c[1])
		}
		return append(append(append(out, c[2], c[3]), figures...), c[4])
	}
	figures := g.figures()
	var heads []string
	for _, f := range figures {
		heads = append(heads, head(f))
	}
	t := report.Table{Head: line([5]string{"strategy", "on", "peers", "sweep", map[bool]string{true: "trace", false: "trials"}[one]}, heads)}
	for _, c := range g.cases {
		end := strconv.Itoa(len(c.runs))
		if one {
			end = fmt.Sprintf("%.12s", c.runs[0].Trace)
		}
		var cells []string
		for _, f := range figures {
			cells = append(cells, c.rows[f.Name].Mean.String())
		}
		t.Rows = append(t.Rows, line([5]string{c.strategy, onEngine[c.engine], strconv.Itoa(c.runs[0].Peers), c.at(), end}, cells))
	}
	for _, s := range g.strategies() {
		var cells []string
		for _, f := range figures {
			cells = append(cells, slopeOf(slopes, g.of.Name, s, f))
		}
		if slices.ContainsFunc(slopes, func(x Slope) bool { return x.Strategy == s && x.scenario == g.of.Name }) {
			t.Rows = append(t.Rows, line([5]string{s, "", "slope"}, cells))
		}
	}
	return t
}

var onEngine = map[string]string{scenario.Simulated: "simulator", scenario.Real: "real hosts"}

func (g group) strategies() []string {
	return Distinct(g.cases, func(c situation) string { return c.strategy })
}

// short returns the name of a figure at the head of a column.
func short(f scenario.Figure) string {
	return strings.ToUpper(strings.TrimSpace(strings.ReplaceAll(f.Name, "_", " ") + " " + f.Unit))
}

// title returns the full name of a figure.
func title(f scenario.Figure) string { return strings.TrimSuffix(f.Title+", "+f.Unit, ", ") }

// lines tabulates what peers know, by the rate of their lines. There is a line for every case and rate, with means
// over the trials. A trial without peers of a rate counts as 0 in their number, and not at all in the other columns.
// The table is empty if the scenario has one class of lines.
func (g group) lines() report.Table {
	t := report.Table{Head: []string{"strategy", "peers", "sweep", "line kbit/s", "of them", "covers", "directory kB"}}
	for _, c := range g.cases {
		var rates []uint64
		for _, run := range c.runs {
			for _, k := range run.Lines {
				rates = append(rates, k.Rate)
			}
		}
		slices.Sort(rates)
		for _, rate := range slices.Compact(rates) {
			t.Rows = append(t.Rows, append([]string{c.strategy, strconv.Itoa(c.runs[0].Peers), c.at(), report.Number(float64(rate) / 1000)}, c.known(rate)...))
		}
	}
	return t
}

// known returns the cells for the peers with lines of one rate: their mean number, the share of the network that
// they cover, and their directory in kB.
func (c situation) known(rate uint64) []string {
	peers := 0
	var covers, bytes []float64
	for _, run := range c.runs {
		for _, k := range run.Lines {
			if k.Rate != rate {
				continue
			}
			peers += k.Peers
			bytes = append(bytes, k.DirectoryBytes/1000)
			if k.Covers >= 0 {
				covers = append(covers, k.Covers)
			}
		}
	}
	number := func(values []float64, decimals int) string {
		if len(values) == 0 {
			return unknown
		}
		return strconv.FormatFloat(statistics.MeanOf(values).Value, 'f', decimals, 64)
	}
	return []string{number([]float64{float64(peers) / float64(len(c.runs))}, 0), number(covers, 4), number(bytes, 1)}
}

// unknown is shown in place of a figure that a strategy does not have.
const unknown = "–"

// kinds tabulates the upkeep of a peer by kind of message: the mean over the trials.
func (g group) kinds() report.Table {
	t := report.Table{Head: []string{"case", "kind of message", "messages a peer", "kB a peer", "share"}}
	for _, c := range g.cases {
		sums, names, all := map[string][2]float64{}, []string{}, 0.0
		for _, run := range c.runs {
			for _, k := range run.Kinds {
				if _, known := sums[k.Name]; !known {
					names = append(names, k.Name)
				}
				n := float64(run.Peers * len(c.runs))
				sums[k.Name] = [2]float64{sums[k.Name][0] + float64(k.Messages)/n, sums[k.Name][1] + float64(k.Bytes)/n}
				all += float64(k.Bytes) / n
			}
		}
		for _, name := range names {
			s := sums[name]
			t.Rows = append(t.Rows, []string{c.name(), name, fmt.Sprintf("%.1f", s[0]), fmt.Sprintf("%.2f", s[1]/1000), fmt.Sprintf("%.3f", s[1]/max(1, all))})
		}
	}
	return t
}

// traces tabulates the settings needed to repeat each run, and its trace, to compare.
func (g group) traces() report.Table {
	t := report.Table{Head: []string{"run", "trial", "seed", "peers", "online", "keys a peer", "queries", "wall, s", "state a peer, kB", "trace"}}
	for _, c := range g.cases {
		for _, r := range c.runs {
			state := unknown
			if r.State > 0 {
				state = fmt.Sprintf("%.1f", r.State/1000)
			}
			t.Rows = append(t.Rows, []string{
				c.name(), strconv.Itoa(r.Trial + 1), strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Peers), fmt.Sprintf("%.1f", r.Online), strconv.Itoa(r.Keys),
				strconv.Itoa(len(r.Queries)), fmt.Sprintf("%.1f", r.Wall), state, r.Trace,
			})
		}
	}
	return t
}
