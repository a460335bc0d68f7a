package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/experiment"
)

func isCollection(name string) bool {
	return slices.ContainsFunc(experiment.Collections(), func(i experiment.Info) bool { return i.Name == name })
}

// runCollection runs an experiment on collections: those of the Debian data unless --data names others.
func runCollection(ctx context.Context, c *cli.Command, name string) error {
	if err := only(c, "experiment run "+name, "trials", "seed", "out", "json", "part", "jobs", "peers", "data", "sweep"); err != nil {
		return err
	}
	if c.IsSet("peers") && c.Int("peers") < 3 {
		return usageError(fmt.Errorf("flag --peers: %d, want 3 or more", c.Int("peers")))
	}
	sweeps := command.Sweeps(c)
	if c.IsSet("sweep") && len(sweeps) != 1 {
		return usageError(fmt.Errorf("experiment run %s: flag --sweep: %d sweeps, want one", name, len(sweeps)))
	}
	sweep := strings.Join(sweeps, "")
	work, out, err := workOf(c)
	if err != nil {
		return err
	}
	show := newProgress(c.Root().ErrWriter, 0)
	options := experiment.Options{
		Peers: c.Int("peers"), Sweep: sweep, Trials: c.Int("trials"), Seed: c.Uint64("seed"), Out: out, Work: work,
		Data: c.String("data"), Version: buildVersion().Version,
		Progress: func(p experiment.Progress) { show.update(stage{what: p.What, share: p.Done, whole: true}) },
	}
	result, err := experiment.RunCollection(ctx, name, options)
	show.end()
	return endRuns(c, work, out, len(result.Rows), err, func() error {
		return showIndented(c, result, result.WriteText)
	})
}
