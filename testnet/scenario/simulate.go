package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// SimulateOptions set how Simulate runs. The result does not depend on them.
type SimulateOptions struct {
	Each     func(n int, do func(i int)) // runs a window's tasks, see sim.Config
	Progress func(share float64)         // receives the progress of the run, from 0 to 1; may be nil
	Upkeep   float64                     // bytes a second that a peer may send for upkeep; 0: the scenario's
	Trace    io.Writer                   // receives the run's trace, see sim.Record; nil: no trace
	// Ended is called when the run has ended and its peers still are in memory; may be nil.
	Ended func()
	// Look is called with the run about every virtual second and at its end; its error ends the run. May be nil.
	Look func(s *sim.Sim, now, end time.Duration) error
}

// Simulate plays a plan in the simulator. When ctx ends, it returns ctx's error.
func Simulate(ctx context.Context, p *Plan, s strategy.Strategy, o SimulateOptions) (*Run, error) {
	played, err := p.Strategy(s)
	if err != nil {
		return nil, err
	}
	params := p.Params()
	if o.Upkeep > 0 {
		params.Values = maps.Collect(maps.All(params.Values)) // not nil
		params.Values[strategy.Upkeep.Name] = o.Upkeep
	}
	var run *sim.Sim
	var looked error
	look := func(now, end time.Duration) bool {
		if o.Look != nil && looked == nil {
			looked = o.Look(run, now, end)
		}
		return looked == nil
	}
	run, err = sim.New(sim.Config{
		Strategy: played, Params: params, Notes: o.Look != nil, Data: p.Data, Script: p.Script, Seed: p.Seed, All: p.All, Each: o.Each, Trace: o.Trace,
		Topology: p.Links.Topology, Edges: p.Edges,
		Rates: func(id strategy.ID) (up, down uint64) {
			l := p.Line(id)
			return uint64(l.Up), uint64(l.Down)
		},
		Latency: p.Latency, Least: time.Duration(p.leastLatency()), Loss: p.Loss, Reordered: p.Reordered, Duplicated: p.Duplicated,
		Warmup: time.Duration(p.Warmup), Asking: time.Duration(p.Asking), Patience: time.Duration(p.Patience),
		Progress: func(now, end time.Duration) bool {
			if o.Progress != nil {
				o.Progress(float64(now) / float64(end))
			}
			return look(now, end) && ctx.Err() == nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", p.Name, err)
	}
	if n := run.Components(); p.Links.Whole && n > 1 {
		return nil, p.source.fault("links", "the links of %d peers fall into %d parts", p.Data.Peers(), n)
	}
	report, err := run.Run()
	if errors.Is(err, sim.ErrStopped) {
		return nil, cmp.Or(looked, ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", p.Name, err)
	}
	if !look(p.End(), p.End()) {
		return nil, looked
	}
	if o.Ended != nil {
		o.Ended()
		runtime.KeepAlive(run)
	}
	if len(p.Lines) == 1 { // not len(report.Lines): of several classes, only one may have peers at the end
		report.Lines = nil
	}
	return &Run{
		Scenario: p.Name, Strategy: s.Name, Engine: Simulated, Trial: p.Trial, Seed: p.Seed, Report: *report,
		Keys: p.Data.Holdings() / p.Data.Peers(), Allowed: params.Of(strategy.Upkeep),
	}, nil
}

// leastLatency returns the least latency, which bounds the simulator's windows.
func (p *Plan) leastLatency() Duration {
	least := Duration(p.least)
	for _, r := range p.Scenario.Latency.Region {
		least = min(least, r.Within)
		for _, d := range r.To {
			least = min(least, d)
		}
	}
	return least
}

// Params returns the parameters of strategies that the scenario sets.
func (s *Scenario) Params() strategy.Params {
	return strategy.Params{Values: s.Parameters, Strong: s.Strong, Undefended: s.Undefended}
}

// Forget drops parameters that none of the strategies declares: other strategies may run than the file's.
func (s *Scenario) Forget(of []strategy.Strategy) {
	heeded := func(name string) bool {
		return slices.ContainsFunc(of, func(by strategy.Strategy) bool { return by.Heeds(name) })
	}
	s.Parameters = maps.Clone(s.Parameters)
	maps.DeleteFunc(s.Parameters, func(name string, _ float64) bool { return !heeded(name) })
}

// Heeded returns an error when the scenario sets a parameter that no strategy declares, or a value out of its range.
func (s *Scenario) Heeded(of []strategy.Strategy) error {
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		x := s.Parameters[name]
		var known []string
		for _, by := range of {
			for _, p := range by.Parameters {
				known = append(known, p.Name)
				if err := p.Check(x); p.Name == name && err != nil {
					return s.source.fault("parameters."+name, "%v %w, as %s wants it", x, err, by.Name)
				}
			}
		}
		if slices.Sort(known); !slices.Contains(known, name) {
			return s.source.fault("parameters."+name, "is none of %s: the strategies heed no others", strings.Join(slices.Compact(known), ", "))
		}
	}
	return nil
}
