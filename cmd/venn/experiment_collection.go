package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/experiment"
)

func isCollection(name string) bool {
	return slices.ContainsFunc(experiment.Collections(), func(i experiment.Info) bool { return i.Name == name })
}

// runCollection runs an experiment on collections, of the Debian data unless other is named.
func runCollection(ctx context.Context, c *cli.Command, name string) error {
	stdout, stderr := c.Root().Writer, c.Root().ErrWriter
	for _, flag := range []string{"keys", "strategy", "sweep", "queries", "all", "topology", "split"} {
		if c.IsSet(flag) {
			return usageError{fmt.Errorf("experiment run %s: flag -%s is for experiments on networks", name, flag)}
		}
	}
	if c.IsSet("peers") && c.Int("peers") < 3 {
		return usageError{fmt.Errorf("flag -peers: %d, want 3 or more", c.Int("peers"))}
	}
	options := experiment.CollectionOptions{
		Peers: c.Int("peers"), Trials: c.Int("trials"), Seed: c.Uint64("seed"), Out: c.String("out"),
		Progress: func(what string) { fmt.Fprintln(stderr, what) },
	}
	if c.IsSet("data") {
		options.Data = c.String("data")
	}
	result, err := experiment.RunCollection(ctx, name, options)
	if errors.Is(err, experiment.ErrOptions) {
		return usageError{err}
	}
	if err != nil && len(result.Rows) == 0 {
		return err
	}
	if writeErr := writeCollection(stdout, result, c.Bool("json")); writeErr != nil {
		return writeErr
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: these are the rows of the trials done by then")
	}
	return err
}

// writeCollection writes a row for every number.
func writeCollection(w io.Writer, r experiment.CollectionResult, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CASE\tBY\tBYTES\tQUANTITY\tVALUE\tSTD ERROR")
	for _, x := range r.Rows {
		bytes := ""
		if x.Bytes > 0 {
			bytes = fmt.Sprint(x.Bytes)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.4g\t%.2g\n", x.Case, x.By, bytes, x.Quantity, x.Value, x.Error)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Files {
		fmt.Fprintln(w, "wrote", f)
	}
	return nil
}
