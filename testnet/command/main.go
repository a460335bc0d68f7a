package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Main is the main function of a program that runs your own strategies beside those of package strategy. It runs
// them in the simulator and on real hosts, with flags, progress, tables, plots, rows and parts. It ends the program:
// with 0, with 1 when something failed, or with 2 when the command line is wrong.
func Main(own ...strategy.Strategy) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Run(ctx, os.Args, os.Stdout, os.Stderr, own...)
	stop()
	os.Exit(code)
}

// Run does the same as Main with the given arguments, the program's name first, and returns the exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, own ...strategy.Strategy) int {
	root := &cli.Command{
		Name: args[0], Usage: "run strategies in scenarios, in the simulator and on real hosts",
		Writer: stdout, ErrWriter: stderr, ExitErrHandler: func(context.Context, *cli.Command, error) {},
		Commands: []*cli.Command{Play(own...), Scenario(own...), Trace()},
		Action: func(_ context.Context, c *cli.Command) error {
			if name := c.Args().First(); name != "" {
				return usage("no command %q; `%s --help` lists them", name, c.Name)
			}
			return cli.ShowRootCommandHelp(c)
		},
	}
	Strict(root)
	err := root.Run(ctx, args)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "interrupted")
		return 1
	}
	fmt.Fprintln(stderr, err)
	if errors.As(err, new(UsageError)) {
		return 2
	}
	return 1
}

// Play returns the command "run", which runs strategies in scenarios: your own, and those that the scenarios name.
func Play(own ...strategy.Strategy) *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run strategies in scenarios", ArgsUsage: "NAME|FILE.toml…",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "strategy", Usage: "`NAMES` in place of the scenarios' own"},
			&cli.BoolFlag{Name: "hosts", Usage: "on real hosts, one trial, in as much time as the scenario takes"},
			&cli.IntFlag{Name: "trials", Usage: "`NUMBER` of trials in place of the scenarios' own"},
			&cli.StringFlag{Name: "out", Usage: "write tables, rows and plots to folder `DIR`"},
			&cli.StringFlag{Name: "part", Usage: "do only part `I/N` of the runs, and note them in --out"},
			&cli.IntFlag{Name: "jobs", Usage: "do this `NUMBER` of runs at one time"},
			&cli.StringFlag{Name: "trace", Usage: "in the simulator: write the trace of every run to folder `DIR`; `trace FILE` prints it as JSON"},
			&cli.BoolFlag{Name: "json", Usage: "rows as a JSON object"},
		}, Flags()...),
		Action: func(ctx context.Context, c *cli.Command) error { return play(ctx, c, own) },
	}
}

// checkPlay returns an error for flags that would have no effect.
func checkPlay(c *cli.Command) error {
	for _, name := range []string{"trials", "out", "part", "jobs", "trace"} {
		if c.Bool("hosts") && c.IsSet(name) {
			return usage("flag --%s: is for the simulator, it does not go with --hosts", name)
		}
	}
	if c.IsSet("part") && c.String("out") == "" {
		return usage("flag --part: say with --out which folder takes what is found")
	}
	return nil
}

// play runs the own strategies, and those that the scenarios name, or instead the strategies of --strategy.
func play(ctx context.Context, c *cli.Command, own []strategy.Strategy) error {
	if err := checkPlay(c); err != nil {
		return err
	}
	known := append(slices.Clone(own), strategies.Named()...)
	of, err := Scenarios(c.Args().Slice(), func(s *scenario.Scenario) (*scenario.Scenario, error) {
		if c.IsSet("strategy") {
			s.Strategies = strings.Split(c.String("strategy"), ",")
			return Override(c, s, known)
		}
		theirs := s.Strategies
		s.Strategies = nil
		for _, name := range append(strategy.Names(own), theirs...) {
			if !slices.Contains(s.Strategies, name) {
				s.Strategies = append(s.Strategies, name)
			}
		}
		return Override(c, s, known)
	})
	if err != nil {
		return err
	}
	var result results.Result
	if c.Bool("hosts") {
		result, err = OnHosts(ctx, of, known, false, func(p *scenario.Plan, by strategy.Strategy) {
			fmt.Fprintf(c.Root().ErrWriter, "%s, %s, for %v\n", p.Name, by.Name, p.End())
		}, nil)
	} else {
		result, err = inSimulator(ctx, c, of, known)
	}
	if errors.Is(err, runs.ErrOptions) || errors.Is(err, scenario.ErrScenario) || errors.Is(err, testnet.ErrConfig) {
		return UsageError{err}
	}
	if c.IsSet("part") && err == nil { // rows are of all parts: the call without --part prints them
		fmt.Fprintf(c.Root().ErrWriter, "part %s is done\n", c.String("part"))
		return nil
	}
	return errors.Join(WriteScenarios(c.Root().Writer, of, result, c.Bool("json")), err)
}

func inSimulator(ctx context.Context, c *cli.Command, of []*scenario.Scenario, known []strategy.Strategy) (results.Result, error) {
	o := runs.Options{Scenarios: of, Known: known, Trials: c.Int("trials"), Out: c.String("out"), Traces: c.String("trace")}
	o.Jobs = c.Int("jobs")
	if c.IsSet("part") {
		var err error
		if o.Part, err = runs.ParsePart(c.String("part")); err != nil {
			return results.Result{}, err
		}
	}
	begun := map[int]bool{}
	o.Progress = func(s scenario.Status) {
		if !begun[s.Run] {
			begun[s.Run] = true
			fmt.Fprintf(c.Root().ErrWriter, "run %d of %d: %s\n", s.Run, s.Runs, s.What)
		}
	}
	return runs.Simulate(ctx, o)
}

// OnHosts plays scenarios on real hosts, each strategy once, in as much time as the scenario takes. With simulated,
// it plays each in the simulator first. It calls begin before each strategy, and tell with the progress unless tell is
// nil. After an error, it returns the result so far.
func OnHosts(ctx context.Context, of []*scenario.Scenario, known []strategy.Strategy, simulated bool, begin func(*scenario.Plan, strategy.Strategy), tell func(testnet.Progress)) (result results.Result, err error) {
	for _, s := range of {
		s.Trials = 1
		chosen, err := strategy.Find(known, s.Strategies...)
		if err != nil {
			return result, UsageError{err}
		}
		if err := s.Heeded(chosen); err != nil {
			return result, UsageError{err}
		}
		plan, err := s.Plan(0)
		if err != nil {
			return result, UsageError{err}
		}
		for _, by := range chosen {
			begin(plan, by)
			if simulated {
				r, err := scenario.Simulate(ctx, plan, by, scenario.SimulateOptions{})
				if err != nil {
					return result, err
				}
				result.Runs = append(result.Runs, r)
			}
			r, err := testnet.Stage(ctx, plan, by, tell)
			if r != nil {
				result.Runs = append(result.Runs, r)
			}
			if err != nil {
				return result, err
			}
		}
	}
	return result, nil
}
