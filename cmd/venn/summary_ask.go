package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/summary"
)

// testCommand asks a summary for keys.
func testCommand() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "tell which keys a summary may hold",
		ArgsUsage: "FILE [KEYS]",
		Description: "Reads keys, one a line, from a file or stdin, and prints those that the collection may hold. That is every key\n" +
			"that it holds, and a share of the others: the false-positive rate. The exit code is 3 if none matches. With --json a\n" +
			"line is an object with the key; with --totals there is one object: tested, matched.",
		Flags: append(seedFlags(),
			&cli.BoolFlag{Name: "totals", Usage: "print only how many keys were tested, and how many match"},
		),
		Action: func(_ context.Context, c *cli.Command) error {
			args, err := arguments(c)
			if err != nil {
				return err
			}
			return runTest(c, args[0], args[1])
		},
	}
}

func runTest(c *cli.Command, file, keys string) error {
	if file == "-" && cmp.Or(keys, "-") == "-" {
		return usageError(fmt.Errorf("summary test: the summary and the keys cannot both come from stdin"))
	}
	seed, err := parseSeed(c)
	if err != nil {
		return usageError(err)
	}
	f, err := openSummary(c, file)
	if err != nil {
		return err
	}
	if have := f.prefix.Header().Seed; have != seed.Tag() {
		return fmt.Errorf("%s: made with seed %s, not %s (see --seed, --network): %w", file, seedName(have), seedName(seed.Tag()), summary.ErrSeed)
	}
	return testKeys(c, f.prefix, seed.Hasher(), keys)
}

// testKeys prints the keys that match, or how many do.
func testKeys(c *cli.Command, p *summary.Prefix, h summary.Hasher, name string) error {
	w := bufio.NewWriter(c.Root().Writer)
	var count struct {
		Tested  int `json:"tested"`
		Matched int `json:"matched"`
	}
	err := eachKeyIn(c, name, func(key []byte) error {
		count.Tested++
		if !p.Contains(h.Fingerprint(key)) {
			return nil
		}
		count.Matched++
		switch {
		case c.Bool("totals"):
			return nil
		case c.Bool("json"):
			return writeJSON(w, struct {
				Key string `json:"key"`
			}{string(key)})
		}
		_, err := fmt.Fprintf(w, "%s\n", key)
		return err
	})
	switch {
	case err != nil:
	case c.Bool("totals") && c.Bool("json"):
		err = writeJSON(w, count)
	case c.Bool("totals"):
		_, err = fmt.Fprintf(w, "%d of %d keys match\n", count.Matched, count.Tested)
	}
	if err = errors.Join(err, w.Flush()); err == nil && count.Matched == 0 && count.Tested > 0 {
		return errNone
	}
	return err
}

// overlapOfFilesCommand compares two summaries.
func overlapOfFilesCommand() *cli.Command {
	return &cli.Command{
		Name:      "overlap",
		Usage:     "estimate from two summaries how many keys both collections have",
		ArgsUsage: "A B",
		Description: "The two may differ in depth and shape, but not in seed. The estimate comes with the interval that holds the\n" +
			"truth with the given confidence. jaccard is the share of the union that both have. When nothing is known there is no\n" +
			"value, only bounds.",
		Flags: []cli.Flag{
			&cli.FloatFlag{Name: "confidence", Usage: "of the interval, a `SHARE` above 0 and below 1", Value: 0.95, Validator: goodRate},
		},
		Action: onSummaries(2, runOverlap),
	}
}

func runOverlap(c *cli.Command, args []string, of []*openedSummary) error {
	a, b := of[0], of[1]
	if ha, hb := a.prefix.Header(), b.prefix.Header(); ha.Seed != hb.Seed {
		return fmt.Errorf("%s: made with seed %s, %s with %s: %w", args[1], seedName(hb.Seed), args[0], seedName(ha.Seed), summary.ErrSeed)
	}
	o, err := summary.EstimateOverlap(a.prefix, b.prefix, c.Float("confidence"))
	if err != nil {
		return err
	}
	r := overlapOfSummaries(o)
	return show(c, r, func(w io.Writer) error { return r.print(w, "A", "B") })
}
