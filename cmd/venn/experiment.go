package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/experiment"
	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategies"
	ours "github.com/venn-p2p/venn/testnet/strategy/venn"
)

func experimentCommand() *cli.Command {
	return &cli.Command{
		Name:        "experiment",
		Usage:       "repeat the experiments of the papers, and compare ways of routing",
		Description: strings.Replace(helpText("experiment"), "{sweeps}", sweepHelp(), 1),
		Action:      group,
		Commands: []*cli.Command{
			command.Scenario(),
			command.Trace(),
			{
				Name:   "list",
				Usage:  "list the experiments",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as a JSON array"}},
				Action: listExperiments,
			},
			{
				Name:      "run",
				Usage:     "run experiments",
				ArgsUsage: "NAME…",
				Flags: append([]cli.Flag{
					&cli.IntFlag{Name: "trials", Usage: "`NUMBER` of trials for every number measured (default: each one's own)", HideDefault: true, Validator: within(1, 1_000_000)},
					&cli.Uint64Flag{Name: "seed", Usage: "`SEED` of all random keys"},
					&cli.StringFlag{Name: "out", Usage: "write tables and figures to folder `DIR`"},
					&cli.BoolFlag{Name: "json", Usage: "rows as a JSON object"},
				}, slices.Concat(workFlags(), experimentFlags())...),
				Action: runExperiments,
			},
			{
				Name:        "compare",
				Usage:       "say how what two folders of --out hold differs, case by case, with 95 % intervals",
				ArgsUsage:   "DIR DIR",
				Description: "A difference is the second folder's mean minus the first's. * marks those whose interval does not hold 0. There is an\ninterval where both have two trials or more.",
				Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as a JSON object"}},
				Action:      compareFolders,
			},
		},
	}
}

func listExperiments(_ context.Context, c *cli.Command) error {
	list, err := experiments()
	if err != nil {
		return err
	}
	return show(c, list, func(w io.Writer) error {
		rows := make([][]string, len(list))
		for i, e := range list {
			rows[i] = []string{e.Name, e.Paper, e.Title}
		}
		return page.Table(w, page.Left, rows...)
	})
}

// experiments lists all experiments, and each scenario whose rows are trials. One entry stands for all other scenarios.
func experiments() ([]experiment.Info, error) {
	list := experiment.List()
	all, err := scenario.All()
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Rows == scenario.Trials {
			list = append(list, experiment.Info{Name: s.Name, Title: s.Question, Paper: "each strategy's own"})
		}
	}
	return append(list, experiment.Info{Name: results.Scenarios, Title: "what networks go through, one a question: partitions, crowds, liars; checks the answers", Paper: "none"}, threatsInfo), nil
}

// threatsInfo names all scenarios that run venn with its defences and without.
var threatsInfo = experiment.Info{Name: "threats", Title: "what liars do to venn with its defences and without, one scenario after another", Paper: "none"}

// threats returns the names of the scenarios that run venn with its defences and without.
func threats() (names []string, err error) {
	all, err := scenario.All()
	for _, s := range all {
		if slices.Contains(s.Strategies, ours.Undefended.Name) {
			names = append(names, s.Name)
		}
	}
	return names, err
}

// withThreats puts threats' scenarios in place of their common name. Each is named once.
func withThreats(names []string) ([]string, error) {
	i := slices.Index(names, threatsInfo.Name)
	if i < 0 {
		return names, nil
	}
	of, err := threats()
	var out []string
	for _, name := range slices.Concat(names[:i], of, names[i+1:]) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, err
}

// runExperiments runs the named scenarios, or package experiment's: one on collections runs alone.
func runExperiments(ctx context.Context, c *cli.Command) error {
	names, err := withThreats(c.Args().Slice())
	if err != nil {
		return err
	}
	if names[0] == results.Scenarios || slices.ContainsFunc(names, command.IsScenario) {
		return runScenarios(ctx, c, names)
	}
	if i := slices.IndexFunc(names, func(name string) bool { return experiment.Sweeps(name) != nil }); i >= 0 && len(names) > 1 {
		return usageError(fmt.Errorf("experiment run %s: %s runs alone", strings.Join(names, " "), names[i]))
	}
	flags := []string{"trials", "seed", "out", "json", "part", "jobs"}
	if experiment.Sweeps(names[0]) != nil {
		flags = append(flags, "peers", "data", "sweep")
	}
	what, sweeps := "experiment run "+strings.Join(names, " "), command.Sweeps(c)
	if err := only(c, what, flags...); err != nil {
		return err
	}
	switch {
	case c.IsSet("peers") && c.Int("peers") < 3:
		return usageError(fmt.Errorf("flag --peers: %d, want 3 or more", c.Int("peers")))
	case c.IsSet("sweep") && len(sweeps) != 1:
		return usageError(fmt.Errorf("%s: flag --sweep: %d sweeps, want one", what, len(sweeps)))
	}
	work, out, err := workOf(c)
	if err != nil {
		return err
	}
	show := newProgress(c.Root().ErrWriter, 0)
	result, err := experiment.Run(ctx, names, experiment.Options{
		Trials: c.Int("trials"), Seed: c.Uint64("seed"), Out: out, Version: buildVersion().Version, Work: work,
		Peers: c.Int("peers"), Data: c.String("data"), Sweep: strings.Join(sweeps, ""),
		Progress: func(what string, done float64) { show.update(stage{what: what, share: done, whole: true}) },
	})
	show.end()
	if errors.Is(err, experiment.ErrUnknown) {
		return usageError(fmt.Errorf("%w; `venn experiment list` shows them", err))
	}
	return endRuns(c, work, out, result.Rows.Len(), err, func() error {
		writeErr := showIndented(c, result, result.WriteText)
		if n := result.Count(experiment.Differs); n > 0 && writeErr == nil && err == nil {
			return fmt.Errorf("%d of %d rows differ", n, result.Rows.Len())
		}
		return writeErr
	})
}

// compareFolders compares the results of two experiments, or testnets.
func compareFolders(_ context.Context, c *cli.Command) error {
	found, err := results.Compare(c.Args().Get(0), c.Args().Get(1))
	if err != nil {
		return err
	}
	return show(c, found, func(w io.Writer) error {
		err := tableOf(w, "CASE|QUANTITY|FIRST|SECOND|DIFFERENCE|INTERVAL|", found.Differences, func(d results.Difference) []any {
			half, mark := "", ""
			if d.Half > 0 {
				half = "± " + report.Short(d.Half)
			}
			if d.Apart() {
				mark = "*"
			}
			return []any{d.Case, d.Quantity, report.Short(d.A.Value), report.Short(d.B.Value), report.Short(d.Value), half, mark}
		})
		if err != nil {
			return err
		}
		if found.OnlyA+found.OnlyB > 0 {
			_, err := fmt.Fprintf(w, "\n%d figures are in the first folder alone, %d in the second\n", found.OnlyA, found.OnlyB)
			return err
		}
		return nil
	})
}

// sweepHelp lists the variables of experiments.
func sweepHelp() string {
	var b strings.Builder
	var rows [][]string
	for _, of := range experiment.List() {
		for _, v := range experiment.Sweeps(of.Name) {
			rows = append(rows, []string{"   " + of.Name, v.Name, v.Unit})
		}
	}
	_ = page.Table(&b, page.Left, rows...) // cannot fail: it writes into memory
	return command.SweepHelp(strategies.Named()) + b.String()
}

// interrupted tells the user how to go on after Ctrl-C; it returns other errors unchanged.
func interrupted(err error, out string) error {
	switch {
	case !errors.Is(err, context.Canceled):
		return err
	case out == "":
		return errors.New("interrupted: with --out FOLDER, what is done is kept, and the same command goes on from there")
	}
	return fmt.Errorf("interrupted: what is done is kept in %s; the same command goes on from there", out)
}
