package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/experiment"
	"github.com/venn-p2p/venn/testnet/runs"
)

func isCollection(name string) bool {
	return slices.ContainsFunc(experiment.Collections(), func(i experiment.Info) bool { return i.Name == name })
}

// runCollection runs an experiment on collections, of the Debian data unless other is named.
func runCollection(ctx context.Context, c *cli.Command, name string) error {
	if err := refuse(c, []string{name}, "peers", "data", "sweep"); err != nil {
		return err
	}
	stdout, stderr := c.Root().Writer, c.Root().ErrWriter
	if c.IsSet("peers") && c.Int("peers") < 3 {
		return usageError{fmt.Errorf("flag --peers: %d, want 3 or more", c.Int("peers"))}
	}
	sweeps := command.Sweeps(c)
	if c.IsSet("sweep") && len(sweeps) != 1 {
		return usageError{fmt.Errorf("experiment run %s: flag --sweep: %d sweeps, want one", name, len(sweeps))}
	}
	sweep := strings.Join(sweeps, "")
	work, out, err := workOf(c)
	if err != nil {
		return err
	}
	show := newProgress(stderr, 0)
	options := experiment.CollectionOptions{
		Peers: c.Int("peers"), Sweep: sweep, Trials: c.Int("trials"), Seed: c.Uint64("seed"), Out: out, Work: work,
		Data: c.String("data"), Version: buildVersion().Version,
		Progress: func(s experiment.CollectionStatus) {
			if s.Begun != "" {
				show.update(stage{what: s.Begun, share: s.Done, whole: true})
			}
		},
	}
	result, err := experiment.RunCollection(ctx, name, options)
	show.end()
	if errors.Is(err, runs.ErrOptions) {
		return usageError{err}
	}
	if c.IsSet("part") {
		return endPart(stderr, work, out, err)
	}
	if err != nil && len(result.Rows) == 0 {
		return interrupted(err, options.Out)
	}
	if writeErr := writeCollection(stdout, result, c.Bool("json")); writeErr != nil {
		return writeErr
	}
	return interrupted(err, options.Out)
}

// writeCollection writes a row for every case, with a column for every quantity.
func writeCollection(w io.Writer, r experiment.CollectionResult, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, cells := range r.Table() {
		line := strings.Join(cells, "\t")
		if i == 0 {
			line = strings.ToUpper(line)
		}
		fmt.Fprintln(t, line+"\t")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Files {
		fmt.Fprintln(w, "wrote", f)
	}
	return nil
}
