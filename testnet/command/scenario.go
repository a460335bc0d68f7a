package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// IsScenario reports whether an argument names a scenario: its file, or one that the program comes with.
func IsScenario(name string) bool {
	return scenario.IsFile(name) || slices.Contains(scenario.Names(), name)
}

// loadScenario reads a scenario that an argument names.
func loadScenario(name string) (*scenario.Scenario, error) {
	s, err := scenario.Load(name)
	if err != nil {
		return nil, UsageError{err}
	}
	return s, nil
}

// Scenario returns the command "scenario". Its scenarios may name your own strategies, too.
func Scenario(own ...strategy.Strategy) *cli.Command {
	return &cli.Command{
		Name:  "scenario",
		Usage: "what networks go through: list, show, check and explain scenarios",
		Description: "A scenario is a TOML file: collections, lines, latencies, queries, who comes and goes, and what happens when.\n" +
			"It is the same for the simulator (venn experiment run FILE.toml) and for real hosts (venn testnet --scenario FILE.toml).\n" +
			"`venn experiment scenario show partition` prints one to begin from.",
		Commands: []*cli.Command{
			{
				Name: "list", Usage: "list the scenarios that the program comes with, and their questions",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as a JSON array"}},
				Action: listScenarios,
			},
			{Name: "show", Usage: "print the file of one of them", ArgsUsage: "NAME", Action: showScenario},
			{
				Name: "check", Usage: "check files; silent when they are good", ArgsUsage: "FILE…",
				Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "a JSON object a line: file, and error where there is one"}},
				Action: func(_ context.Context, c *cli.Command) error {
					return checkScenarios(c, own)
				},
			},
			{
				Name: "explain", Usage: "say in words what a scenario does", ArgsUsage: "FILE",
				Description: "What can happen in a scenario, and who can misbehave in it, with the keys that say how:\n\n" + scenario.Help(),
				Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as a JSON object: name, question, explanation"}},
				Action:      explainScenario,
			},
		},
	}
}

func listScenarios(_ context.Context, c *cli.Command) error {
	all, err := scenario.All()
	if err != nil {
		return err
	}
	type listed struct {
		Name     string `json:"name"`
		Question string `json:"question"`
	}
	var list []listed
	for _, s := range all {
		list = append(list, listed{s.Name, strings.TrimSpace(s.Question)})
	}
	w := c.Root().Writer
	if c.Bool("json") {
		return json.NewEncoder(w).Encode(list)
	}
	rows := make([][]string, len(list))
	for i, s := range list {
		rows[i] = []string{s.Name, s.Question}
	}
	return page.Table(w, page.Left, rows...)
}

func showScenario(_ context.Context, c *cli.Command) error {
	text, err := scenario.TextOf(strings.TrimSuffix(c.Args().First(), ".toml"))
	if err != nil {
		return UsageError{err}
	}
	_, err = io.WriteString(c.Root().Writer, text)
	return err
}

// checkScenarios checks the scenarios of the arguments, and returns the faults of all of them.
func checkScenarios(c *cli.Command, own []strategy.Strategy) error {
	var faults []error
	for _, name := range c.Args().Slice() {
		err := checkScenario(name, own)
		if err != nil {
			faults = append(faults, err)
		}
		if !c.Bool("json") {
			continue
		}
		checked := struct {
			File  string `json:"file"`
			Error string `json:"error,omitempty"`
		}{File: name}
		if err != nil {
			checked.Error = err.Error()
		}
		if err := json.NewEncoder(c.Root().Writer).Encode(checked); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// checkScenario checks a scenario. It assumes that own strategies play it, too, even if it does not name them.
func checkScenario(name string, own []strategy.Strategy) error {
	s, err := loadScenario(name)
	if err != nil {
		return err
	}
	chosen, err := strategy.Find(append(slices.Clone(own), strategies.Named()...), s.Strategies...)
	if err != nil {
		return UsageError{fmt.Errorf("scenario %s: %w", s.Name, err)}
	}
	if err := s.Heeded(append(chosen, own...)); err != nil {
		return UsageError{err}
	}
	points, err := s.Points()
	if err != nil {
		return UsageError{err}
	}
	for _, p := range points {
		if _, err := p.Plan(0); err != nil {
			return UsageError{fmt.Errorf("%s: %w", p.Name, err)}
		}
	}
	return nil
}

func explainScenario(_ context.Context, c *cli.Command) error {
	s, err := loadScenario(c.Args().First())
	if err != nil {
		return err
	}
	text, err := s.Explain()
	if err != nil {
		return UsageError{err}
	}
	w := c.Root().Writer
	if c.Bool("json") {
		return json.NewEncoder(w).Encode(struct {
			Name        string `json:"name"`
			Question    string `json:"question"`
			Explanation string `json:"explanation"`
		}{s.Name, strings.TrimSpace(s.Question), text})
	}
	_, err = io.WriteString(page.On(w), text)
	return err
}

// Scenarios returns the scenarios that the arguments of a command name. An argument is a file or a name; "scenarios"
// alone names all that the program comes with, but those whose rows are trials. A scenario with a sweep is returned
// as its points. change, if not nil, is applied to each scenario before that.
func Scenarios(names []string, change func(*scenario.Scenario) (*scenario.Scenario, error)) (out []*scenario.Scenario, err error) {
	every := len(names) == 1 && names[0] == results.Scenarios
	if every {
		names = scenario.Names()
	}
	for _, n := range names {
		s, err := loadScenario(n)
		if err != nil {
			return nil, err
		}
		if s.Rows == scenario.Trials && len(names) > 1 {
			if every {
				continue
			}
			return nil, usage("%s: %s runs alone, for its rows are trials", strings.Join(names, " "), n)
		}
		if change != nil {
			if s, err = change(s); err != nil {
				return nil, UsageError{err}
			}
		}
		points, err := s.Points()
		if err != nil {
			return nil, UsageError{err}
		}
		out = append(out, points...)
	}
	return out, nil
}

// WriteAnswers writes the files of scenarios to a folder, with rows as their answers. It reports the files that
// changed. Each file is replaced as a whole.
func WriteAnswers(w io.Writer, dir string, of []*scenario.Scenario, rows []results.Row) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, s := range of {
		path := filepath.Join(dir, s.Name+".toml")
		text := results.WithAnswers(s.Text(), results.AnswersOf(s, rows))
		if was, err := os.ReadFile(path); err == nil && string(was) == text {
			continue
		}
		if err := os.WriteFile(path+".new", []byte(text), 0o666); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
		fmt.Fprintln(w, "wrote", path)
	}
	return nil
}

// WriteScenarios writes the results of runs of scenarios, as text or JSON.
func WriteScenarios(w io.Writer, of []*scenario.Scenario, r results.Result, asJSON bool) error {
	r.Scenarios = of
	r.Sum()
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return r.WriteText(page.On(w))
}
