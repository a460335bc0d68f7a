package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/results/report"
)

func sizesCommand() *cli.Command {
	return &cli.Command{
		Name:        "sizes",
		Usage:       "show what false-positive rate a budget of bytes buys",
		Description: helpText("summary-sizes"),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "keys", Usage: "for a collection of `N` keys", Required: true, Validator: within(1, 1<<26)},
			&cli.StringFlag{Name: "plot", Usage: "draw rates over budgets into `FILE`, an SVG"},
		},
		Action: runSizes,
	}
}

// budgets are the rows of the table, in bits a key.
var budgets = []float64{0.5, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 30}

// size is one row of the table: the summary that fits a budget.
type size struct {
	Budget      int             `json:"budget"` // size of the budget in bytes
	Bits        float64         `json:"-"`      // size of the budget in bits a key
	Shape       *inspectedShape `json:"shape"`  // nil if nothing fits
	Parts       int             `json:"parts"`
	Bytes       int             `json:"bytes"` // predicted size, header included
	BitsPerKey  maybe           `json:"bits_per_key"`
	Rate        maybe           `json:"fp_rate"`
	Plain       maybe           `json:"bloom_fp_rate"`
	Partitioned maybe           `json:"partitioned_fp_rate"`
}

func runSizes(_ context.Context, c *cli.Command) error {
	n := c.Int("keys")
	rows, err := sizesFor(n, budgets)
	if err != nil {
		return err
	}
	if file := c.String("plot"); file != "" {
		var svg bytes.Buffer
		if err := plotSizes(&svg, n); err != nil {
			return err
		}
		if err := writeOut(c, file, svg.Bytes()); err != nil {
			return err
		}
		if file == "-" {
			return nil
		}
	}
	return show(c, struct {
		Keys  int    `json:"keys"`
		Sizes []size `json:"sizes"`
	}{n, rows}, func(w io.Writer) error { return printSizes(w, rows) })
}

// sizesFor returns a row for each budget, in bits a key, for n keys.
func sizesFor(n int, bits []float64) ([]size, error) {
	key, err := developmentKey()
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(key, summary.Seed{}, "0.0")
	if err != nil {
		return nil, err
	}
	head, err := b.headBytes(n)
	if err != nil {
		return nil, err
	}
	var rows []size
	for _, z := range bits {
		s, err := b.size(n, int(z*float64(n)/8), head)
		if err != nil {
			return nil, err
		}
		s.Bits = z
		rows = append(rows, s)
	}
	return rows, nil
}

// size returns the row for a budget in bytes and n keys. head is the size of a file before its parts, in bytes.
func (b *builder) size(n, budget, head int) (size, error) {
	none := maybe(math.NaN())
	s := size{Budget: budget, Rate: none, BitsPerKey: none, Plain: none, Partitioned: none}
	if p, err := (bloom.Goal{Keys: n, Bits: uint64(8 * budget)}).Params(); err == nil {
		s.Plain = maybe(p.ExpectedRate(n))
	}
	half := uint64(math.Ceil(float64(n) / math.Ln2)) // bits of a block that n keys fill to one half
	if blocks := uint64(8*budget) / half; blocks > 0 {
		s.Partitioned = maybe(bloom.Params{Blocks: int(blocks), BlockBits: half, Hashes: 1}.ExpectedRate(n))
	}
	shape, parts, err := b.shapeFor(n, budget)
	if errors.Is(err, summary.ErrLimit) {
		return s, nil
	} else if err != nil {
		return s, err
	}
	plan, err := summary.NewPlan(n, shape)
	if err != nil {
		return s, err
	}
	s.Shape = newInspectedShape(shape)
	s.Parts, s.Bytes, s.Rate = parts, min(budget, head+plan.EncodedBytes(parts)+2*parts), maybe(plan.ExpectedRate(parts))
	s.BitsPerKey = perKey(s.Bytes, n)
	return s, nil
}

func printSizes(w io.Writer, rows []size) error {
	cells := [][]string{{"bits a key", "bytes", "parts", "used", "rate", "Bloom", "partitioned", "levels"}}
	for _, r := range rows {
		levels := "-"
		if r.Shape != nil {
			levels = r.Shape.levels()
		}
		cells = append(cells, []string{
			fmt.Sprint(r.Bits), strconv.Itoa(r.Budget), strconv.Itoa(r.Parts), r.BitsPerKey.String(), rateText(r.Rate), rateText(r.Plain), rateText(r.Partitioned), levels,
		})
	}
	if err := page.Table(w, 0, cells...); err != nil {
		return err
	}
	_, err := io.WriteString(w, otherSizes)
	return err
}

// otherSizes advises when to use the filters of other libraries. Their modules are not in our go.mod, so a module of
// comparisons prints their numbers.
const otherSizes = "\n" +
	"What to take when. `cd testnet/bench && go run . sizes` measures each of them in\n" +
	"as many bytes, through its own library:\n" +
	"  prefix of a summary  to send: any cut works, deltas, overlap\n" +
	"  Golomb-coded set     to send once; a question reads all of it (btcutil/gcs)\n" +
	"  binary fuse filter   fixed sets, rate 1/256 or 1/65536 (FastFilter/xorfilter)\n" +
	"  Bloom filter         sets that grow (summary/bloom, bits-and-blooms/bloom)\n" +
	"  HyperLogLog          how many keys, also of a union (axiomhq/hyperloglog)\n" +
	"  CPC sketch           the same in fewer bytes (apache/datasketches-go)\n" +
	"  theta sketch         overlap of many sets (apache/datasketches-go)\n"

func rateText(rate maybe) string {
	if rate.missing() {
		return "-"
	}
	return fmt.Sprintf("%.3g", float64(rate))
}

// plotSizes draws the rates of n keys over the budget, on a logarithmic axis.
func plotSizes(w io.Writer, n int) error {
	const most, steps = 24, 4 // greatest number of bits a key; points drawn for each bit
	var bits []float64
	for i := range most*steps + 1 {
		bits = append(bits, float64(i)/steps)
	}
	rows, err := sizesFor(n, bits[1:])
	if err != nil {
		return err
	}
	f := report.Figure{
		Title: fmt.Sprintf("False-positive rate of a summary of %d keys", n), X: "bits a key, in all", Y: "false-positive rate", LogY: true, Share: true,
	}
	for _, l := range []struct {
		name string
		rate func(size) maybe
	}{
		{"summary", func(s size) maybe { return s.Rate }},
		{"plain Bloom filter", func(s size) maybe { return s.Plain }},
		{"block-partitioned filter, truncated", func(s size) maybe { return s.Partitioned }},
	} {
		line := report.Line{Name: l.name}
		for _, r := range rows {
			if rate := l.rate(r); !rate.missing() {
				line.Add(r.Bits, float64(rate))
			}
		}
		f.Lines = append(f.Lines, line)
	}
	_, err = w.Write(f.SVG())
	return err
}
