package runs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// Options choose what Simulate runs. Zero values mean the stated defaults.
type Options struct {
	Scenarios  []*scenario.Scenario
	Known      []strategy.Strategy // strategies that a scenario may name; nil: strategies.Named
	Strategies []string            // names of strategies, in place of each scenario's own; nil: its own
	Trials     int                 // number of trials, in place of each scenario's own; 0: its own
	Out        string              // folder for tables, plots and report, made if it is missing; "": none
	// folder for the traces of the runs that are done, made if it is missing; "": none
	Traces   string
	Version  string                // version of the program, for the report
	Progress func(scenario.Status) // never called by two goroutines at once; may be nil
	// Look is called during the run, see scenario.SimulateOptions. With it there must be one run, of venn, and no
	// folder. nil: it is not called.
	Look func(s *sim.Sim, now, end time.Duration) error
	Work
}

// trial is one trial of a strategy in a scenario.
type trial struct {
	of       *scenario.Scenario
	strategy strategy.Strategy
	number   int
	paced    int // index of the run whose upkeep bounds this run's; -1: none
}

// id returns a name that has all that the result follows from. inside has the hashes of the files that the scenario
// names.
func (r trial) id(inside string) string {
	return ID(struct {
		Scenario, Text, Contents, Strategy string
		Trial                              int
		Seed                               uint64
		Paced                              bool
	}{r.of.Name, r.of.Text(), inside, r.strategy.Name, r.number, r.of.Seed, r.paced >= 0})
}

func (r trial) String() string {
	return fmt.Sprintf("%s, %s, trial %d", r.of.Name, r.strategy.Name, r.number+1)
}

// Simulate plays scenarios in the simulator: every trial of every strategy of each. For small networks it does as
// many runs at a time as there are processors. A run of a large network, and the last run, uses up to 8 processors.
// When ctx ends, Simulate returns its error and the results so far. With a folder, a later call of the same program
// continues from there. Errors before anything is run match ErrOptions or scenario.ErrScenario.
func Simulate(ctx context.Context, o Options) (results.Result, error) {
	result := results.Result{Version: o.Version, Scenarios: o.Scenarios}
	trials, ids, err := o.trials()
	if err != nil {
		return result, err
	}
	result.Scenarios = o.Scenarios
	peers := 1
	for _, r := range trials {
		peers = max(peers, r.of.Peers)
	}
	defer GrowHeap(gcPercent(peers))()
	all := simulated{options: &o, trials: trials, atOnce: o.jobs(together(peers)), once: make([]once, len(trials))}
	all.plans.Keep = 2 * all.atOnce
	for i, r := range trials {
		all.pieces.Of = append(all.pieces.Of, Piece{ids[i], r.String(), 1})
	}
	if o.Progress != nil {
		all.pieces.Tell = func(i int, done float64) {
			o.Progress(scenario.Status{Run: i + 1, Runs: len(trials), What: trials[i].String(), Done: done})
		}
	}
	found, err := all.pieces.Do(ctx, o.Out, result.Name(), o.Work, all.atOnce, all.run)
	for _, r := range found {
		if r != nil {
			result.Runs = append(result.Runs, r)
		}
	}
	result.Sum()
	if o.Reports() && o.Out != "" && len(result.Rows) > 0 {
		var writeErr error
		about := [][2]string{{"program", Program()}, {"simulator", sim.Model}}
		result.Files, writeErr = result.Write(o.Out, append(about, report.Unfinished(len(result.Runs), len(trials))...), terms(trials))
		err = errors.Join(err, writeErr)
	}
	return result, err
}

// terms returns the sources and models of the strategies, for the report.
func terms(trials []trial) (out [][2]string) {
	for _, name := range results.Distinct(trials, func(r trial) string { return r.strategy.Name }) {
		i := slices.IndexFunc(trials, func(r trial) bool { return r.strategy.Name == name })
		s := trials[i].strategy
		out = append(out, [2]string{s.Name, s.Source + ". " + s.Model})
	}
	return out
}

// gcPercent returns the growth of the heap between garbage collections, in percent. A large network has gigabytes of
// live memory, so its heap grows by half; others double. The environment's GOGC takes precedence.
func gcPercent(peers int) int {
	const large = 20_000
	if peers > large {
		return 50
	}
	return 100
}

// together returns the number of runs at one time, if the largest network has that many peers.
func together(peers int) int {
	const most = 2500 // largest number of peers in all networks played at one time
	return max(1, min(runtime.GOMAXPROCS(0), most/max(1, peers)))
}

// check returns the fault of the options themselves.
func (o *Options) check() error {
	names := map[string]bool{}
	for _, s := range o.Scenarios {
		if names[s.Name] {
			return fmt.Errorf("%w: two scenarios are called %s", ErrOptions, s.Name)
		}
		names[s.Name] = true
	}
	switch {
	case len(o.Scenarios) == 0:
		return fmt.Errorf("%w: no scenario", ErrOptions)
	case o.Trials < 0:
		return fmt.Errorf("%w: %d trials, want 1 or more", ErrOptions, o.Trials)
	}
	return o.Check()
}

// trials checks the options, and returns the runs and their names.
func (o *Options) trials() (trials []trial, ids []string, err error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if o.Known == nil {
		o.Known = strategies.Named()
	}
	for _, s := range o.Scenarios {
		of, inside, err := o.trialsOf(s, len(trials))
		if err != nil {
			return nil, nil, err
		}
		for _, r := range of {
			trials, ids = append(trials, r), append(ids, r.id(inside))
		}
	}
	if o.Look != nil {
		err = o.lookable(trials)
	}
	return trials, ids, err
}

// trialsOf returns the trials of a scenario. first is the index that its first trial has among all runs. inside has the
// hashes of the scenario's files.
func (o *Options) trialsOf(s *scenario.Scenario, first int) (out []trial, inside string, err error) {
	if o.Strategies != nil {
		s.Strategies = o.Strategies
	}
	if o.Trials > 0 {
		s.Trials = o.Trials
	}
	chosen, err := strategy.Find(o.Known, s.Strategies...)
	if err != nil {
		return nil, "", fmt.Errorf("%w: scenario %s: %w", ErrOptions, s.Name, err)
	}
	if o.Strategies != nil {
		s.Forget(chosen)
	}
	if err := s.Heeded(chosen); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrOptions, err)
	}
	for _, file := range s.Files() {
		sum, err := Contents(file)
		if err != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrOptions, err)
		}
		inside += sum
	}
	pacer := slices.IndexFunc(chosen, func(by strategy.Strategy) bool { return by.Name == s.UpkeepAs })
	if s.Parameters[strategy.Upkeep.Name] > 0 {
		pacer = -1 // a number takes precedence
	}
	for n := range s.Trials { // the strategies play the same plan, one after the other
		for i, by := range chosen {
			r := trial{of: s, strategy: by, number: n, paced: -1}
			if pacer >= 0 && i != pacer && by.Heeds(strategy.Upkeep.Name) {
				r.paced = first + n*len(chosen) + pacer
			}
			out = append(out, r)
		}
	}
	return out, inside, nil
}

// lookable returns an error unless there is one run, of venn, that is sure to be done.
func (o *Options) lookable(trials []trial) error {
	switch {
	case len(trials) != 1:
		return fmt.Errorf("%w: a recording is of one run, and these are %s: name one strategy, one trial and no sweep", ErrOptions, strconv.Itoa(len(trials)))
	case trials[0].strategy.Name != venn.Strategy.Name:
		return fmt.Errorf("%w: a recording shows peers of venn, not of %s", ErrOptions, trials[0].strategy.Name)
	case o.Out != "" || !o.Reports() || o.Lines != nil:
		return fmt.Errorf("%w: a recording goes without a folder and without parts: a run known from before is not done again", ErrOptions)
	}
	return nil
}

// simulated has the runs of a call of Simulate.
type simulated struct {
	options *Options
	trials  []trial
	pieces  Pieces[scenario.Run]
	atOnce  int
	plans   Recent[*scenario.Plan]
	once    []once
}

// processors returns the number of processors that a run has. The last runs have the processors of runs that are done.
func (n *simulated) processors() int {
	const most = 8 // a run has work for no more of them
	return max(1, min(most, runtime.GOMAXPROCS(0)/max(1, min(n.atOnce, n.pieces.left()))))
}

// once is a run that is done once, even if several goroutines wait for it.
type once struct {
	sync.Once
	run scenario.Run
	err error
}

// run returns the result of a run, and does the run first if the result is not known.
func (n *simulated) run(ctx context.Context, i int) (scenario.Run, error) {
	r := &n.once[i]
	r.Do(func() {
		var known bool
		if r.run, known = n.pieces.known.Get(n.pieces.Of[i].ID); !known {
			r.run, r.err = n.play(ctx, i)
		}
	})
	return r.run, r.err
}

// pace returns the bytes a second that a run's peers may send for upkeep: as many as the peers of another run sent
// while they were online, handshakes included. 0 means that only the scenario bounds them. pace does the other run
// first.
func (n *simulated) pace(ctx context.Context, r trial) (float64, error) {
	if r.paced < 0 {
		return 0, nil
	}
	first, err := n.run(ctx, r.paced)
	if err != nil {
		return 0, err
	}
	return 1000 * r.of.Values(&first)["upkeep"] * float64(first.Peers) / max(1, first.Online) / first.Virtual, nil
}

// play plays a run's plan in the simulator, and writes its trace if one is wanted.
func (n *simulated) play(ctx context.Context, i int) (scenario.Run, error) {
	r := n.trials[i]
	pace, err := n.pace(ctx, r)
	if err != nil {
		return scenario.Run{}, err
	}
	began := time.Now()
	plan, err := n.plans.Get(fmt.Sprintf("%s %d", r.of.Name, r.number), func() (*scenario.Plan, error) { return r.of.Plan(r.number) })
	if err != nil {
		return scenario.Run{}, err
	}
	trace, err := newTrace(n.options.Traces, fmt.Sprintf("%s,%s,seed=%d.trace", r.of.Name, r.strategy.Name, plan.Seed))
	if err != nil {
		return scenario.Run{}, err
	}
	defer trace.drop()
	before, state := n.live(), 0.0
	out, err := scenario.Simulate(ctx, plan, r.strategy, scenario.SimulateOptions{
		Each:  func(tasks int, do func(int)) { Parallel(tasks, n.processors(), do) },
		Trace: trace.writer(), Upkeep: pace, Look: n.options.Look,
		Progress: func(done float64) { n.pieces.At(i, done) },
		Ended:    func() { state = n.live() - before },
	})
	if err != nil {
		return scenario.Run{}, err
	}
	if err := trace.keep(); err != nil {
		return scenario.Run{}, err
	}
	out.Wall, out.State = time.Since(began).Seconds(), max(0, state)/float64(out.Peers)
	n.pieces.At(i, 1)
	return *out, nil
}

// live returns the bytes of live heap objects; 0 if runs go on at the same time.
func (n *simulated) live() float64 {
	if n.atOnce > 1 {
		return 0
	}
	runtime.GC()
	runtime.GC() // pools are emptied by the second collection
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}
