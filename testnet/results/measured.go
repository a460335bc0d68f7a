package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// Measured is the result of one run of real nodes or hosts. Runs with the same Case are trials.
type Measured struct {
	Case    string   `json:"case"` // the settings, without the seed
	Seed    uint64   `json:"seed"`
	Figures []Figure `json:"figures"`
}

// Figure is one number of a run.
type Figure struct {
	Of       string  `json:"of"` // subject of the figure: a class of lines, a system, or "all"
	Quantity string  `json:"quantity"`
	Value    float64 `json:"value"`
}

// AddRun adds a run to the runs in a folder. It writes rows, plots with intervals over the trials, and a report of
// all runs. The run replaces one of the same case and seed, which would be no independent trial. AddRun makes the
// folder if it is missing, and returns the paths of the files. Callers must not add an interrupted run.
func AddRun(dir, name, title, version string, m Measured) ([]string, error) {
	m.Figures = slices.DeleteFunc(slices.Clone(m.Figures), func(f Figure) bool { return math.IsNaN(f.Value) || math.IsInf(f.Value, 0) })
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	path := filepath.Join(dir, name+".runs.jsonl")
	runs, err := readRuns(path)
	if err != nil {
		return nil, err
	}
	same := func(r Measured) bool { return r.Case == m.Case && r.Seed == m.Seed }
	runs = append(slices.DeleteFunc(runs, same), m)
	var lines bytes.Buffer
	for _, r := range runs {
		b, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("results: %w", err)
		}
		lines.Write(append(b, '\n'))
	}
	out := report.Folder{Dir: dir}
	out.Write(name+".runs.jsonl", lines.Bytes())
	outcomes := measuredOutcomes(runs)
	Found{name, version, runs, outcomes}.Write(&out)
	records := [][]string{{"case", "quantity", "value", "half_95", "trials"}}
	shown := report.Table{Head: []string{"case", "quantity", "value", "trials"}}
	for _, o := range outcomes {
		records = append(records, []string{o.Case, o.Quantity, report.Number(o.Value), report.Number(o.Half), strconv.Itoa(o.Trials)})
		shown.Rows = append(shown.Rows, []string{o.Case, o.Quantity, o.mean().String(), strconv.Itoa(o.Trials)})
	}
	out.CSV("rows.csv", records)
	out.Report(report.Page{
		Name: name, Title: title, Version: version, Parameters: [][2]string{{"runs", strconv.Itoa(len(runs))}},
		Sections: []report.Section{{Title: "Results", Table: shown, Drawings: measuredDrawings(name, outcomes)}},
		Terms:    [][2]string{{"±", "the half width of the 95 % interval of the mean over the trials, by Student's t distribution"}},
	})
	return out.Files, out.Err
}

// readRuns reads runs from a file, a line of JSON each. Without the file there are none.
func readRuns(path string) (runs []Measured, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var m Measured
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("results: %s, line %d: %w: remove the file, or choose another folder", path, n, err)
		}
		runs = append(runs, m)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("results: %s: %w", path, err)
	}
	return runs, nil
}

// measuredOutcomes returns the mean of each figure over the runs of a case.
func measuredOutcomes(runs []Measured) (out []Outcome) {
	type key struct{ of, quantity string }
	values := map[key][]float64{}
	var keys []key
	for _, r := range runs {
		for _, f := range r.Figures {
			k := key{r.Case + ", " + f.Of, f.Quantity}
			if values[k] == nil {
				keys = append(keys, k)
			}
			values[k] = append(values[k], f.Value)
		}
	}
	for _, k := range keys {
		out = append(out, OutcomeOf(k.of, k.quantity, statistics.MeanOf(values[k])))
	}
	return out
}

// measuredDrawings returns a chart of each quantity with a dot for each case.
func measuredDrawings(name string, outcomes []Outcome) (out []report.Drawing) {
	cases := Distinct(outcomes, func(o Outcome) string { return o.Case })
	for i, q := range Distinct(outcomes, func(o Outcome) string { return o.Quantity }) {
		d := report.DotChart{Name: fmt.Sprintf("%s-%d", name, i+1), Title: q}
		for _, o := range outcomes {
			if o.Quantity == q {
				d.Dots = append(d.Dots, report.Dot{Name: o.Case, Value: o.Value, Half: o.Half, Label: o.mean().String(), Colour: slices.Index(cases, o.Case)})
			}
		}
		out = append(out, d)
	}
	return out
}
