package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/node/units"
)

const (
	seedHelp = "`NUMBER` of the hash seed, decimal or, after 0x, hexadecimal; a hexadecimal number of more than 8 digits counts as a network of its own"
	outHelp  = "write to `FILE`, whole or not at all"
)

func summaryCommand() *cli.Command {
	commands := []*cli.Command{
		buildCommand(), inspectCommand(), cutCommand(), testCommand(), overlapOfFilesCommand(), deltaCommand(), applyCommand(), sizesCommand(),
	}
	for _, c := range commands {
		c.Flags = append(c.Flags, &cli.BoolFlag{Name: "json", Usage: "report as JSON"})
	}
	return &cli.Command{
		Name:        "summary",
		Usage:       "make, cut, ask and compare summaries of collections",
		Description: helpText("summary"),
		Commands:    commands,
		Action:      group,
	}
}

func outFlag() cli.Flag {
	return &cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: outHelp, Value: "-", DefaultText: "stdout"}
}

// bytesFlag returns a flag for a number of bytes, 1 or more, with a unit or without: see units.Bytes.
func bytesFlag(name, usage string) cli.Flag {
	return &cli.StringFlag{Name: name, Usage: usage, HideDefault: true, Validator: func(text string) error {
		n, err := units.Bytes(text)
		if err == nil && (n < 1 || n > math.MaxInt) {
			err = errors.New("want 1 byte or more")
		}
		return err
	}}
}

// bytesOf returns the value of a bytesFlag.
func bytesOf(c *cli.Command, name string) int {
	n, _ := units.Bytes(c.String(name)) // no error: the flag was checked
	return int(n)
}

func seedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "seed", Usage: seedHelp, Value: "0"},
		&cli.StringFlag{Name: "network", Usage: "`NAME` of the network that the seed is of", Value: "venn"},
	}
}

// arguments returns the arguments, with empty ones in place of missing ones. At most one may be -.
func arguments(c *cli.Command) ([]string, error) {
	args := c.Args().Slice()
	inputs := 0
	for _, a := range args {
		if a == "-" {
			inputs++
		}
	}
	if inputs > 1 {
		return nil, usageError(fmt.Errorf("summary %s: only one argument can be - for stdin", c.Name))
	}
	return append(args, "", ""), nil
}

// onSummaries returns the action of a command whose first arguments name the given number of summaries. It opens them.
func onSummaries(number int, do func(c *cli.Command, args []string, of []*openedSummary) error) cli.ActionFunc {
	return func(_ context.Context, c *cli.Command) error {
		args, err := arguments(c)
		if err != nil {
			return err
		}
		var of []*openedSummary
		for _, name := range args[:number] {
			f, err := openSummary(c, name)
			if err != nil {
				return err
			}
			of = append(of, f)
		}
		return do(c, args, of)
	}
}

// cutCommand makes a shorter file of a summary.
func cutCommand() *cli.Command {
	return &cli.Command{
		Name:      "cut",
		Usage:     "keep the first parts of a summary",
		ArgsUsage: "FILE",
		Description: "What is left is as valid as the whole, only coarser. --bytes counts everything: the file that is written has\n" +
			"never more than that.",
		Flags: []cli.Flag{
			bytesFlag("bytes", "keep as many parts as fit in `BYTES`, such as 50000 or 50kB, header included"),
			&cli.IntFlag{Name: "parts", Usage: "keep the first `NUMBER` of parts", HideDefault: true, Validator: within(1, math.MaxInt)},
			outFlag(),
		},
		Action: onSummaries(1, runCut),
	}
}

func runCut(c *cli.Command, args []string, of []*openedSummary) (err error) {
	if c.IsSet("bytes") == c.IsSet("parts") {
		return usageError(errors.New("summary cut wants either --bytes or --parts"))
	}
	f, parts := of[0], c.Int("parts")
	if c.IsSet("bytes") {
		if parts, err = f.partsWithin(bytesOf(c, "bytes")); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	if parts > f.prefix.Parts() {
		return fmt.Errorf("%s: it has %d parts, not %d", args[0], f.prefix.Parts(), parts)
	}
	return writeSummary(c, f.cut(parts))
}

// reportOn prints the result of a command that writes a file to out. If out is -, stdout carries the file: then JSON goes
// to stderr, and text is left out.
func reportOn(c *cli.Command, out string, asJSON any, format string, args ...any) error {
	switch {
	case c.Bool("json") && out == "-":
		return writeJSON(c.Root().ErrWriter, asJSON)
	case c.Bool("json"):
		return writeJSON(c.Root().Writer, asJSON)
	case out == "-":
		return nil
	}
	_, err := fmt.Fprintf(output(c), format+"\n", args...)
	return err
}

// written is the report on a summary written to a file.
type written struct {
	N          int     `json:"n"`
	Parts      int     `json:"parts"`
	Bytes      int     `json:"bytes"`
	BitsPerKey maybe   `json:"bits_per_key"`
	Rate       float64 `json:"fp_rate"`
}

// writeSummary writes f to the file of -o, and reports its size and rate.
func writeSummary(c *cli.Command, f *openedSummary) error {
	out := c.String("out")
	b := f.file.AppendBinary(nil)
	if err := writeOut(c, out, b); err != nil {
		return err
	}
	n := f.prefix.Header().N
	w := written{N: n, Parts: f.prefix.Parts(), Bytes: len(b), BitsPerKey: perKey(len(b), n), Rate: f.prefix.FalsePositiveRate()}
	return reportOn(c, out, w, "%s: %s, %d of %d parts, %d bytes, %s bits a key, false-positive rate %.3g",
		out, keyCount(n), w.Parts, f.prefix.Plan().Parts(), w.Bytes, w.BitsPerKey, w.Rate)
}

// plain writes lines of a report for people, the labels aligned.
func plain(w io.Writer, rows [][2]string) error {
	width := 16
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%-*s %s\n", width, r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}
