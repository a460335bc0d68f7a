package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

var (
	peersOfData = strategy.Parameter{Name: "peers", Unit: "peers that the data is dealt to", Whole: true, Low: 3, High: 10_000}
	swept       = map[string][]strategy.Parameter{
		Neighbours: {peersOfData, {Name: "slots", Unit: "neighbours of a peer", Whole: true, Low: 1, High: 1000}},
		Overlaps:   {peersOfData, {Name: "bytes", Unit: "bytes of a sketch", Whole: true, Low: 256, High: 1 << 20}},
		Budget: {
			peersOfData,
			{Name: "share", Unit: "share of everybody's summaries that a peer has room for, up to 1", Low: 1e-6, High: 1},
			{Name: "bytes", Unit: "bytes of summaries that a peer has room for", Whole: true, Low: 1, High: 1e12},
		},
	}
)

// Sweeps returns the parameters that an experiment on collections can vary; nil for one that repeats a paper.
func Sweeps(experiment string) []strategy.Parameter { return swept[experiment] }

// unitOf returns the unit of a parameter that an experiment can vary.
func unitOf(experiment, name string) string {
	return swept[experiment][slices.IndexFunc(swept[experiment], func(p strategy.Parameter) bool { return p.Name == name })].Unit
}

// value is one value of a sweep. Without a name it changes nothing.
type value struct {
	name string
	x    float64
}

// parseSweep reads "name=value,value…". "" is one value that changes nothing.
func parseSweep(of []strategy.Parameter, sweep string) (values []value, err error) {
	if sweep == "" {
		return []value{{}}, nil
	}
	var known []scenario.Variable
	for _, p := range of {
		known = append(known, scenario.Variable{Name: p.Name, Key: p.Name})
	}
	setting, err := scenario.ParseSetting(known, sweep)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", runs.ErrOptions, err)
	}
	p := of[slices.IndexFunc(of, func(p strategy.Parameter) bool { return p.Name == setting.Key })]
	for _, item := range setting.Values {
		v := value{p.Name, math.NaN()}
		switch x := item.(type) {
		case int64:
			v.x = float64(x)
		case float64:
			v.x = x
		}
		if err := p.Check(v.x); err != nil {
			return nil, fmt.Errorf("%w: sweep over %s: %v %w", runs.ErrOptions, p.Name, item, err)
		}
		values = append(values, v)
	}
	return values, nil
}
