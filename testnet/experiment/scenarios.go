package experiment

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// ScenarioOptions say what RunScenarios runs. Zero values mean the stated defaults.
type ScenarioOptions struct {
	Scenarios  []*scenario.Scenario
	Known      []strategy.Strategy   // that a scenario may name; nil: strategies.Named
	Strategies []string              // to run in place of each scenario's own; nil: those
	Trials     int                   // in place of each scenario's own; 0: those
	Out        string                // folder for tables, plots and report, made when missing; empty for none
	Traces     string                // folder for the trace of every run that is not known from before, made when missing; empty for none
	Version    string                // of the program, for the report
	Progress   func(scenario.Status) // never called by two goroutines at once; may be nil
	Work
}

// scenarioRun is one trial of a strategy in a scenario.
type scenarioRun struct {
	of       *scenario.Scenario
	strategy strategy.Strategy
	trial    int
}

// id names all that the run follows from. Of the files that the scenario names it has what is in them.
func (r scenarioRun) id(inside string) string {
	return runID(struct {
		Scenario, Text, Contents, Strategy string
		Trial                              int
	}{r.of.Name, r.of.Text(), inside, r.strategy.Name, r.trial})
}

// traceName is a file's name for the trace of the run.
func (r scenarioRun) traceName(seed uint64) string {
	return fmt.Sprintf("%s,%s,seed=%d.trace", r.of.Name, r.strategy.Name, seed)
}

// RunScenarios plays scenarios in the simulator: every strategy of each, every trial. When ctx ends, it returns its
// error and what is known by then. With a folder, a later call of the same program goes on from there. Errors before
// anything is run match ErrOptions or scenario.ErrScenario.
func RunScenarios(ctx context.Context, o ScenarioOptions) (results.Result, error) {
	result := results.Result{Version: o.Version}
	runs, ids, err := o.runs()
	if err != nil {
		return result, err
	}
	known, err := openLedger[scenario.Run](o.Out, results.Scenarios, o.Work, ids)
	if err != nil {
		return result, err
	}
	defer known.close()
	peers := 1
	for _, r := range runs {
		peers = max(peers, r.of.Peers)
	}
	atOnce := o.jobs(together(peers))
	all := scenarioRuns{options: &o, runs: runs, done: make([]float64, len(runs))}
	all.processors.atOnce = atOnce
	for i, id := range ids {
		if known.todo(i, id) {
			all.processors.left.Add(1)
		} else {
			all.done[i] = 1
		}
	}
	found, err := runEach(ctx, ids, atOnce, known, func(ctx context.Context, i int) (scenario.Run, error) {
		defer all.processors.left.Add(-1)
		return all.run(ctx, i)
	})
	for _, r := range found {
		if r != nil {
			result.Runs = append(result.Runs, r)
		}
	}
	result.Rows = results.Rows(o.Scenarios, result.Runs)
	if o.reports() && o.Out != "" && len(result.Rows) > 0 {
		var writeErr error
		result.Files, writeErr = result.Write(o.Out, o.Scenarios, append([][2]string{{"program", program()}, {"simulator", sim.Model}}, report.Unfinished(len(result.Runs), len(runs))...)...)
		err = errors.Join(err, writeErr)
	}
	return result, err
}

// runs checks the options and lists the runs.
func (o *ScenarioOptions) runs() (runs []scenarioRun, ids []string, err error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if len(o.Scenarios) == 0 {
		return nil, nil, fmt.Errorf("%w: no scenario", ErrOptions)
	}
	if o.Trials < 0 {
		return nil, nil, fmt.Errorf("%w: %d trials, want 1 or more", ErrOptions, o.Trials)
	}
	if o.Known == nil {
		o.Known = strategies.Named()
	}
	names := map[string]bool{}
	for _, s := range o.Scenarios {
		if names[s.Name] {
			return nil, nil, fmt.Errorf("%w: two scenarios are called %s", ErrOptions, s.Name)
		}
		names[s.Name] = true
		if o.Strategies != nil {
			s.Strategies = o.Strategies
		}
		if o.Trials > 0 {
			s.Trials = o.Trials
		}
		chosen, err := strategy.Find(o.Known, s.Strategies...)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: scenario %s: %w", ErrOptions, s.Name, err)
		}
		if err := s.Heeded(chosen); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrOptions, err)
		}
		inside := ""
		for _, file := range s.Files() {
			sum, err := contents(file)
			if err != nil {
				return nil, nil, err
			}
			inside += sum
		}
		for trial := range s.Trials {
			for _, by := range chosen {
				r := scenarioRun{of: s, strategy: by, trial: trial}
				runs, ids = append(runs, r), append(ids, r.id(inside))
			}
		}
	}
	return runs, ids, nil
}

// scenarioRuns are the runs of an experiment.
type scenarioRuns struct {
	options *ScenarioOptions
	runs    []scenarioRun
	plans   recent[*scenario.Plan]

	processors processors

	mu   sync.Mutex
	done []float64 // part of each run
}

func (n *scenarioRuns) run(ctx context.Context, i int) (scenario.Run, error) {
	r := n.runs[i]
	n.plans.keep = 8
	plan, err := n.plans.get(fmt.Sprintf("%s %d", r.of.Name, r.trial), func() (*scenario.Plan, error) { return r.of.Plan(r.trial) })
	if err != nil {
		return scenario.Run{}, err
	}
	trace, err := newTrace(n.options.Traces, r.traceName(plan.Seed))
	if err != nil {
		return scenario.Run{}, err
	}
	defer trace.drop()
	crew := NewCrew(n.processors.each())
	defer crew.Close()
	out, err := scenario.Simulate(ctx, plan, r.strategy, scenario.SimulateOptions{
		Each: crew.Each, Trace: trace.writer(),
		Progress: func(done float64) {
			crew.Grow(n.processors.each())
			n.tell(i, done)
		},
	})
	if err != nil {
		return scenario.Run{}, err
	}
	if err := trace.keep(); err != nil {
		return scenario.Run{}, err
	}
	n.tell(i, 1)
	return *out, nil
}

// tell reports progress.
func (n *scenarioRuns) tell(i int, done float64) {
	if n.options.Progress == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done[i] = done
	sum := 0.0
	for _, d := range n.done {
		sum += d
	}
	r := n.runs[i]
	n.options.Progress(scenario.Status{
		Run: i + 1, Runs: len(n.runs), What: fmt.Sprintf("%s, %s, trial %d", r.of.Name, r.strategy.Name, r.trial+1), Done: sum / float64(len(n.runs)),
	})
}
