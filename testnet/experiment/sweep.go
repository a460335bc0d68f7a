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
	p := parameterOf(of, setting.Key)
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
