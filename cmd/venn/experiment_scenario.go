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
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// experimentFlags returns the flags of experiments that are scenarios.
func experimentFlags() []cli.Flag {
	return append(command.Flags(),
		&cli.StringFlag{Name: "strategy", Usage: "`NAME[,NAME…]` of " + strings.Join(strategy.Names(strategies.Named()), ", ") + ", in place of the scenario's own"},
		&cli.StringFlag{Name: "trace", Usage: "write the trace of every run to folder `DIR`, for venn experiment trace"},
		&cli.StringFlag{Name: "record", Usage: "record one run of venn in `FILE`, for venn view", TakesFile: true},
		&cli.BoolFlag{Name: "answers", Usage: "print the answers as scenarios' files have them, in place of comparing them"},
		&cli.StringFlag{Name: "write-answers", Usage: "write scenarios' files, with the answers that they give now, to folder `DIR`"},
	)
}

// only returns an error of usage if a flag is set that is not in flags. what names the command in the error.
func only(c *cli.Command, what string, flags ...string) error {
	for _, name := range c.FlagNames() {
		if name != "repo" && !slices.Contains(flags, name) {
			return usageError(fmt.Errorf("%s: no flag --%s, only --%s", what, name, strings.Join(flags, ", --")))
		}
	}
	return nil
}

// scenariosOf returns the scenarios of these names, changed as the flags say.
func scenariosOf(c *cli.Command, names []string) ([]*scenario.Scenario, error) {
	return command.Scenarios(names, func(s *scenario.Scenario) (*scenario.Scenario, error) {
		for _, name := range []string{"answers", "write-answers"} {
			if c.IsSet(name) && s.Rows == scenario.Trials {
				return nil, fmt.Errorf("experiment run %s: flag --%s is for scenarios that have answers", s.Name, name)
			}
		}
		switch {
		case c.IsSet("strategy"):
			s.Strategies = strings.Split(c.String("strategy"), ",")
		case c.IsSet("record") && s.Rows == scenario.Trials && s.Swept():
			s.Strategies = []string{"venn"}
		}
		if c.IsSet("record") {
			s.Trials = 1
		}
		s.Seed += c.Uint64("seed")
		return command.Override(c, s, strategies.Named())
	})
}

// runScenarios plays scenarios in the simulator. It fails when an answer differs from the scenario's file.
func runScenarios(ctx context.Context, c *cli.Command, names []string) error {
	folder := c.String("write-answers")
	if folder != "" { // answers are of the scenarios as their files have them
		if err := only(c, "experiment run --write-answers", "write-answers", "answers", "out", "jobs", "trace", "record"); err != nil {
			return err
		}
	}
	of, err := scenariosOf(c, names)
	if err != nil {
		return err
	}
	o := runs.Options{Scenarios: of, Trials: c.Int("trials"), Traces: c.String("trace"), Version: buildVersion().Version}
	if c.IsSet("strategy") {
		o.Strategies = of[0].Strategies
	}
	if o.Work, o.Out, err = workOf(c); err != nil {
		return err
	}
	recorder := runRecorder{name: c.String("record")}
	if c.IsSet("record") {
		if recorder.name == "" {
			return usageError(errors.New("flag --record: names no file"))
		}
		o.Look = recorder.look
	}
	show := newProgress(c.Root().ErrWriter, 0)
	if o.Lines != nil {
		show = newProgress(io.Discard, 0)
	}
	begun, newest := map[string]bool{}, "" // several may run at a time
	o.Progress = func(s scenario.Status) {
		if name, _, _ := strings.Cut(s.What, ", trial"); !begun[name] {
			begun[name], newest = true, fmt.Sprintf("run %d of %d: %s", s.Run, s.Runs, name)
		}
		show.update(stage{what: newest, share: s.Done, whole: true})
	}
	result, err := runs.Simulate(ctx, o)
	show.end()
	err = recorder.end(err)
	return endRuns(c, o.Work, o.Out, len(result.Rows), err, func() error {
		if folder != "" && err == nil {
			return command.WriteAnswers(output(c), folder, of, result.Rows)
		}
		if c.Bool("answers") {
			for _, s := range of {
				fmt.Fprintf(output(c), "# %s\n%s\n", s.Name, results.AnswersOf(s, result.Rows))
			}
			return nil
		}
		if writeErr := command.WriteScenarios(output(c), of, result, c.Bool("json")); writeErr != nil || err != nil {
			return writeErr
		}
		return asTheyWere(result.Rows)
	})
}

// asTheyWere returns an error when answers differ from those in the files.
func asTheyWere(rows []results.Row) error {
	answers, other := 0, 0
	for _, r := range rows {
		if r.Answer != nil {
			answers++
		}
		if !r.Holds {
			other++
		}
	}
	if other > 0 {
		return fmt.Errorf("%d of %d answers are not what they were", other, answers)
	}
	return nil
}
