package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
)

// Variable is a setting that a sweep can vary.
type Variable struct {
	Name string
	Unit string // of its values

	axis      string  // of a plot
	whole     bool    // whole numbers only
	low, high float64 // the range of values
}

const most = 1e12 // where nothing else bounds a value

var (
	collectionPeers = Variable{Name: "peers", Unit: "peers that the data is dealt to", axis: "peers", whole: true, low: 3, high: 10_000}
	neighbourSweeps = []Variable{collectionPeers, {Name: "slots", Unit: "neighbours of a peer", axis: "neighbours of a peer", whole: true, low: 1, high: 1000}}
	overlapSweeps   = []Variable{collectionPeers, {Name: "bytes", Unit: "bytes of a sketch", axis: "bytes of a sketch", whole: true, low: 256, high: 1 << 20}}
	budgetSweeps    = []Variable{
		collectionPeers,
		{Name: "share", Unit: "share of everybody's summaries that a peer has room for, up to 1", axis: "room for summaries, share of all in full", low: 1e-6, high: 1},
		{Name: "bytes", Unit: "bytes of summaries that a peer has room for", axis: "room for summaries, bytes", whole: true, low: 1, high: most},
	}
)

// Sweeps returns the variables of an experiment on collections; none for an experiment that repeats a paper.
func Sweeps(experiment string) []Variable {
	return map[string][]Variable{Neighbours: neighbourSweeps, Overlaps: overlapSweeps, Budget: budgetSweeps}[experiment]
}

// value is one of a sweep; without a variable's name it changes nothing.
type value struct {
	Variable
	x float64
}

// parseSweep reads "name=value,value…". "" is one value that changes nothing.
func parseSweep(variables []Variable, sweep string) (values []value, err error) {
	if sweep == "" {
		return []value{{}}, nil
	}
	var known []scenario.Variable
	for _, v := range variables {
		known = append(known, scenario.Variable{Name: v.Name, Key: v.Name})
	}
	setting, err := scenario.ParseSetting(known, sweep)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", runs.ErrOptions, err)
	}
	for _, x := range setting.Values {
		v := value{Variable: variable(variables, setting.Key)}
		if v.x, err = v.parse(fmt.Sprint(x)); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// variable returns the variable of a name.
func variable(of []Variable, name string) Variable {
	if i := slices.IndexFunc(of, func(v Variable) bool { return v.Name == name }); i >= 0 {
		return of[i]
	}
	return Variable{}
}

// parse reads a value.
func (v Variable) parse(item string) (float64, error) {
	x, err := strconv.ParseFloat(item, 64)
	switch {
	case err != nil || math.IsNaN(x):
		return 0, fmt.Errorf("%w: sweep over %s: %q is no value", runs.ErrOptions, v.Name, item)
	case x < v.low || x > v.high:
		return 0, fmt.Errorf("%w: sweep over %s: %q is not from %s to %s", runs.ErrOptions, v.Name, item, report.Number(v.low), report.Number(v.high))
	case v.whole && x != math.Trunc(x):
		return 0, fmt.Errorf("%w: sweep over %s: %q is no whole number", runs.ErrOptions, v.Name, item)
	}
	return x, nil
}

// label formats a value for tables.
func (v Variable) label(x float64) string {
	if v.Name == "" {
		return ""
	}
	return report.Number(x)
}

// sweepParameter tells of a sweep in a report.
func sweepParameter(asked string, v Variable) [2]string {
	if asked == "" {
		asked = v.Name
	}
	return [2]string{"sweep", asked + " (" + v.Unit + ")"}
}
