package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Sweeps returns the parameters that an experiment on collections can vary; nil for one that repeats a paper.
func Sweeps(experiment string) []strategy.Parameter { return kindOf(experiment).sweeps }

func parameterOf(of []strategy.Parameter, name string) strategy.Parameter {
	return of[slices.IndexFunc(of, func(p strategy.Parameter) bool { return p.Name == name })]
}

// parseSweep reads "name=value,value…". "" is a sweep of no name, with one value that changes nothing.
func parseSweep(of []strategy.Parameter, sweep string) (name string, values []float64, err error) {
	if sweep == "" {
		return "", []float64{0}, nil
	}
	var known []scenario.Variable
	for _, p := range of {
		known = append(known, scenario.Variable{Name: p.Name, Key: p.Name})
	}
	setting, err := scenario.ParseSetting(known, sweep)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", runs.ErrOptions, err)
	}
	p := parameterOf(of, setting.Key)
	for _, item := range setting.Values {
		x, is := item.(float64)
		if n, whole := item.(int64); whole {
			x = float64(n)
		} else if !is {
			x = math.NaN()
		}
		if err := p.Check(x); err != nil {
			return "", nil, fmt.Errorf("%w: sweep over %s: %v %w", runs.ErrOptions, p.Name, item, err)
		}
		values = append(values, x)
	}
	return p.Name, values, nil
}
