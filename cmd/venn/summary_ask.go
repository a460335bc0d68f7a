package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// testCommand asks a summary for keys.
func testCommand() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "tell which keys a summary may hold",
		ArgsUsage: "FILE [KEYS]",
		Description: "Reads keys, one a line, from a file or stdin, and prints those that the collection may hold. That is every key\n" +
			"that it holds, and a share of the others: the false-positive rate. Ends with exit code 0 also when none matches. With --json a\n" +
			"line is an object with the key; with --count there is one object, with how many were tested and matched.",
		Flags: append(seedFlags(), &cli.BoolFlag{Name: "count", Usage: "print only how many were tested, and matched, as JSON"}),
		Action: func(_ context.Context, c *cli.Command) error {
			args, err := arguments(c, "FILE", "[KEYS]")
			if err != nil {
				return err
			}
			return runTest(c, args[0], args[1])
		},
	}
}

func runTest(c *cli.Command, file, keys string) error {
	if keys == "" {
		keys = "-"
	}
	if file == "-" && keys == "-" {
		return usageError{fmt.Errorf("summary test: the summary and the keys cannot both come from stdin")}
	}
	seed, err := parseSeed(c)
	if err != nil {
		return usageError{err}
	}
	f, err := openSummary(c, file)
	if err != nil {
		return err
	}
	if have := f.prefix.Header().Seed; have != seed.Tag() {
		return fmt.Errorf("%s: made with seed %s, not %s: %w", file, seedName(have), seedName(seed.Tag()), summary.ErrSeed)
	}
	r, err := input(c, keys)
	if err != nil {
		return err
	}
	defer r.Close()
	return testKeys(c, f.prefix, seed.Hasher(), keys, r)
}

// testKeys prints the keys that match, or how many do.
func testKeys(c *cli.Command, p *summary.Prefix, h summary.Hasher, name string, r io.Reader) error {
	w := bufio.NewWriter(c.Root().Writer)
	var count struct {
		Tested  int `json:"tested"`
		Matched int `json:"matched"`
	}
	err := eachKey(name, r, func(key []byte) error {
		count.Tested++
		if !p.Contains(h.Fingerprint(key)) {
			return nil
		}
		count.Matched++
		switch {
		case c.Bool("count"):
			return nil
		case c.Bool("json"):
			return writeJSON(w, struct {
				Key string `json:"key"`
			}{string(key)})
		}
		_, err := fmt.Fprintf(w, "%s\n", key)
		return err
	})
	if err == nil && c.Bool("count") {
		err = writeJSON(w, count)
	}
	if flushErr := w.Flush(); err == nil {
		err = flushErr
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
			"truth with the given confidence. jaccard is the share of the union that both have, containment the share of A\n" +
			"that B has. When nothing is known there is no value, only bounds.",
		Flags: []cli.Flag{
			&cli.FloatFlag{Name: "confidence", Usage: "of the interval, a `SHARE` above 0 and below 1", Value: 0.95, Validator: goodRate},
		},
		Action: runOverlap,
	}
}

// overlap is the report on two summaries.
type overlap struct {
	N1           float64  `json:"n1"`
	N2           float64  `json:"n2"`
	Intersection interval `json:"intersection"`
	Union        maybe    `json:"union"`
	Jaccard      maybe    `json:"jaccard"`
	Containment  maybe    `json:"containment"`
	Method       string   `json:"method"`
}

type interval struct {
	Value      maybe   `json:"value"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

func runOverlap(_ context.Context, c *cli.Command) error {
	args, err := arguments(c, "A", "B")
	if err != nil {
		return err
	}
	a, err := openSummary(c, args[0])
	if err != nil {
		return err
	}
	b, err := openSummary(c, args[1])
	if err != nil {
		return err
	}
	if ha, hb := a.prefix.Header(), b.prefix.Header(); ha.Seed != hb.Seed {
		return fmt.Errorf("%s: made with seed %s, %s with %s: %w", args[1], seedName(hb.Seed), args[0], seedName(ha.Seed), summary.ErrSeed)
	}
	o, err := summary.EstimateOverlap(a.prefix, b.prefix, c.Float("confidence"))
	if err != nil {
		return err
	}
	r := newOverlapReport(o)
	if c.Bool("json") {
		return writeJSON(c.Root().Writer, r)
	}
	return r.print(c.Root().Writer, o)
}

func newOverlapReport(o estimate.Overlap) overlap {
	r := overlap{
		N1: o.N1, N2: o.N2, Method: o.Method, Intersection: newInterval(o.Intersection),
		Union: maybe(o.Union.Value), Jaccard: maybe(o.Jaccard), Containment: maybe(o.Containment),
	}
	if o.Intersection.Saturated {
		none := r.Intersection.Value
		r.Union, r.Jaccard, r.Containment = none, none, none
		r.Method += ", saturated: only bounds"
	}
	return r
}

func newInterval(i estimate.Interval) interval {
	return interval{maybe(i.Value), i.Low, i.High, i.Confidence}
}

func (r overlap) print(w io.Writer, o estimate.Overlap) error {
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	between := func(i estimate.Interval) string {
		value := whole(i.Value)
		if i.Saturated {
			value = "unknown"
		}
		return fmt.Sprintf("%s, %s to %s with %.4g %% confidence", value, whole(i.Low), whole(i.High), 100*i.Confidence)
	}
	rows := [][2]string{
		{"keys of A", whole(r.N1)},
		{"keys of B", whole(r.N2)},
		{"both have", between(o.Intersection)},
		{"either has", between(o.Union)},
		{"jaccard", r.Jaccard.String()},
		{"A's share in B", r.Containment.String()},
	}
	for i, piece := range strings.SplitAfter(r.Method, ", ") { // a line has 80 columns
		label := ""
		if i == 0 {
			label = "method"
		}
		rows = append(rows, [2]string{label, strings.TrimSuffix(piece, " ")})
	}
	return plain(w, rows)
}
