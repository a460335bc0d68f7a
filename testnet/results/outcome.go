package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// rowsFile is the name of the file that every experiment writes to its folder, and Compare reads.
const rowsFile = "rows.json"

// Outcome is one quantity of an experiment in one case, over its trials.
type Outcome struct {
	Case     string    `json:"case"` // a strategy at a point of a sweep, a row of a paper's table, …
	Quantity string    `json:"quantity"`
	Value    float64   `json:"value"`             // mean of the trials
	Half     float64   `json:"half_95,omitempty"` // half width of its 95 % interval; 0: not known
	Trials   int       `json:"trials"`
	Seeds    []uint64  `json:"seeds,omitempty"`  // seeds of the trials, if each trial has a value
	Values   []float64 `json:"values,omitempty"` // values of the trials, in the order of the seeds
}

// OutcomeOf returns the outcome with a mean of trials.
func OutcomeOf(of, quantity string, m statistics.Mean) Outcome {
	return Outcome{Case: of, Quantity: quantity, Value: m.Value, Half: m.Half, Trials: m.N}
}

// With returns the outcome with the seeds and values of the trials, if each trial has a value.
func (o Outcome) With(seeds []uint64, values []float64) Outcome {
	if len(seeds) == len(values) && !slices.ContainsFunc(values, math.IsNaN) {
		o.Seeds, o.Values = seeds, values
	}
	return o
}

func (o Outcome) mean() statistics.Mean {
	return statistics.Mean{Value: o.Value, Half: o.Half, N: o.Trials}
}

// Found is the content of rows.json.
type Found struct {
	Experiment string    `json:"experiment"`
	Version    string    `json:"version,omitempty"`
	Rows       any       `json:"rows,omitempty"` // rows in the experiment's own form
	Outcomes   []Outcome `json:"outcomes"`
}

// Write writes rows.json to a folder.
func (f Found) Write(o *report.Folder) { o.JSON(rowsFile, f) }

// Difference compares an outcome of folder A with that of the same case and quantity in folder B.
type Difference struct {
	Case     string  `json:"case"`
	Quantity string  `json:"quantity"`
	A        Outcome `json:"a"`
	B        Outcome `json:"b"`
	Value    float64 `json:"difference"` // B minus A
	// half width of its 95 % interval; 0: not known, because a side has one trial
	Half float64 `json:"half_95,omitempty"`
	// both sides have the same trials, and the interval is that of their differences
	Paired bool `json:"paired,omitempty"`
}

// Apart reports whether the interval is known and does not contain 0.
func (d Difference) Apart() bool { return d.Half > 0 && (d.Value > d.Half || d.Value < -d.Half) }

// Comparison is the result of Compare.
type Comparison struct {
	Differences []Difference `json:"differences"`
	OnlyA       int          `json:"only_a"` // number of outcomes that only folder A has; OnlyB for folder B
	OnlyB       int          `json:"only_b"`
}

// ErrNoRows is matched by the error for a folder without an experiment's rows.json.
var ErrNoRows = errors.New("results: no rows of an experiment")

// Compare compares the outcomes in the folders of two experiments, in the order of a. An error matches ErrNoRows, or
// is one of reading files.
func Compare(a, b string) (Comparison, error) {
	var c Comparison
	before, err := readOutcomes(a)
	if err != nil {
		return c, err
	}
	after, err := readOutcomes(b)
	if err != nil {
		return c, err
	}
	for _, x := range before {
		i := slices.IndexFunc(after, func(y Outcome) bool { return y.Case == x.Case && y.Quantity == x.Quantity })
		if i < 0 {
			c.OnlyA++
			continue
		}
		d := Difference{Case: x.Case, Quantity: x.Quantity, A: x, B: after[i]}
		m, paired := difference(d.A.mean(), d.B.mean(), d.A.Seeds, d.B.Seeds, d.A.Values, d.B.Values)
		d.Value, d.Half, d.Paired = m.Value, m.Half, paired
		c.Differences = append(c.Differences, d)
	}
	c.OnlyB = len(after) - len(c.Differences)
	return c, nil
}

// difference returns b minus a. It compares trials with the same seeds in pairs.
func difference(a, b statistics.Mean, seedsA, seedsB []uint64, valuesA, valuesB []float64) (m statistics.Mean, paired bool) {
	if len(seedsA) > 1 && slices.Equal(seedsA, seedsB) {
		return statistics.Paired(valuesA, valuesB), true
	}
	return statistics.Difference(a, b), false
}

// readOutcomes returns the outcomes in a folder's rows.json.
func readOutcomes(dir string) ([]Outcome, error) {
	path := filepath.Join(dir, rowsFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s: write them with --out %s", ErrNoRows, dir, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	var f Found
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoRows, path, err)
	}
	if len(f.Outcomes) == 0 {
		return nil, fmt.Errorf("%w: %s has no outcomes", ErrNoRows, path)
	}
	return f.Outcomes, nil
}

// Distinct returns the names of rows, each once, in the order in which they first appear.
func Distinct[R any](rows []R, name func(R) string) []string {
	var names []string
	for _, r := range rows {
		if n := name(r); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
