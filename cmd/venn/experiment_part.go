package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
)

// workFlags returns the flags that choose which runs of an experiment are done, and how many at a time.
func workFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "part", Usage: "do only part `I/N` of the runs, I from 0 to N-1, and note them in --out", Validator: parses(runs.ParsePart)},
		&cli.IntFlag{Name: "jobs", Usage: "do this `NUMBER` of runs at one time (default: as many as processors and memory allow)", HideDefault: true, Validator: within(1, 10_000)},
	}
}

// partOf returns the part of the runs that --part names. Without the flag it returns the zero value, which is all runs.
func partOf(c *cli.Command) runs.Part {
	part, _ := runs.ParsePart(c.String("part")) // the flag was checked
	return part
}

// toStdout in place of a folder lets a part write its lines to stdout. Nothing but errors then goes to stderr:
// collectors of containers' output mix stderr in between the pieces of long lines.
const toStdout = "-"

// workOf reads the flags of workFlags and --out, and returns the folder to write to.
func workOf(c *cli.Command) (w runs.Work, out string, err error) {
	out = c.String("out")
	if w.Jobs = c.Int("jobs"); !c.IsSet("part") {
		if out == toStdout {
			return w, "", usageError(errors.New("flag --out: only a part of the runs (--part) goes to stdout"))
		}
		return w, out, nil
	}
	switch w.Part = partOf(c); {
	case c.Bool("json"):
		return w, "", usageError(errors.New("flag --part: a part prints no rows, --json is for the call without it"))
	case out == "":
		return w, "", usageError(errors.New("flag --part: say with --out which folder takes what is found, or --out - for lines on stdout"))
	case out == toStdout:
		w.Lines, out = c.Root().Writer, ""
	}
	return w, out, nil
}

// endRuns returns the error of a command after its runs, which gave the given number of rows. It calls write to show
// the rows, but not after a part of the runs.
func endRuns(c *cli.Command, w runs.Work, out string, rows int, err error, write func() error) error {
	switch {
	case errors.Is(err, runs.ErrOptions) || errors.Is(err, scenario.ErrScenario):
		return usageError(err)
	case c.IsSet("part") && errors.Is(err, context.Canceled) && out == "":
		return errors.New("interrupted: stdout has what was done by then")
	case c.IsSet("part") && err == nil:
		if w.Lines == nil {
			fmt.Fprintf(c.Root().ErrWriter, "part %s is done\n", w.Part)
		}
		return nil
	case c.IsSet("part") || err != nil && rows == 0:
		return interrupted(err, out)
	}
	if writeErr := write(); writeErr != nil {
		return writeErr
	}
	return interrupted(err, out)
}
