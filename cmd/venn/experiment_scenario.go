package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/experiment"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/scenario"
)

// runScenarios plays scenarios in the simulator. It fails when an answer is not what the scenario's file says.
func runScenarios(ctx context.Context, c *cli.Command, names []string) error {
	for _, flag := range networkFlags() {
		if name := flag.Names()[0]; name != "strategy" && name != "trace" && c.IsSet(name) {
			return usageError{fmt.Errorf("experiment run %s: no flag --%s: a scenario's file says that", strings.Join(names, " "), name)}
		}
	}
	folder := c.String("write-answers")
	for _, name := range []string{"strategy", "trials", "seed", "part", "json"} {
		if folder != "" && c.IsSet(name) {
			return usageError{fmt.Errorf("flag --write-answers: answers are those of the files as they are, without --%s", name)}
		}
	}
	of, err := command.Scenarios(names)
	if err != nil {
		return err
	}
	o := experiment.ScenarioOptions{Scenarios: of, Trials: c.Int("trials"), Traces: c.String("trace"), Version: buildVersion().Version}
	for _, s := range of {
		s.Seed += c.Uint64("seed")
	}
	if c.IsSet("strategy") {
		o.Strategies = strings.Split(c.String("strategy"), ",")
	}
	if o.Work, o.Out, err = workOf(c); err != nil {
		return err
	}
	stdout, stderr := c.Root().Writer, c.Root().ErrWriter
	show := newProgress(stderr, 0)
	begun, newest := map[string]bool{}, "" // several may run at a time
	o.Progress = func(s scenario.Status) {
		if name, _, _ := strings.Cut(s.What, ", trial"); !begun[name] {
			begun[name], newest = true, name
		}
		show.update(stage{what: newest, share: s.Done, whole: true})
	}
	result, err := experiment.RunScenarios(ctx, o)
	show.end()
	if errors.Is(err, experiment.ErrOptions) || errors.Is(err, scenario.ErrScenario) {
		return usageError{err}
	}
	if c.IsSet("part") {
		return endPart(stderr, o.Work, o.Out, err)
	}
	if err != nil && len(result.Rows) == 0 {
		return interrupted(err, o.Out)
	}
	if folder != "" && err == nil {
		return command.WriteAnswers(stdout, folder, of, result.Rows)
	}
	if c.Bool("answers") {
		for _, s := range of {
			fmt.Fprintf(stdout, "# %s\n%s\n", s.Name, results.AnswersOf(s, result.Rows))
		}
		return interrupted(err, o.Out)
	}
	if writeErr := command.WriteScenarios(stdout, of, result, c.Bool("json")); writeErr != nil {
		return writeErr
	}
	if err != nil {
		return interrupted(err, o.Out)
	}
	return asTheyWere(result.Rows)
}

// asTheyWere returns an error when answers are not those of the files.
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
