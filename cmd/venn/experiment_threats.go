package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/experiment"
	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/threats"
)

// threatsInfo describes the attacks in the list of experiments.
var threatsInfo = experiment.Info{Name: "threats", Title: "attacks and faults, each with its defence on and off", Paper: "-"}

// runThreats runs the attacks and fails if one of them has no effect, or its defence none.
func runThreats(ctx context.Context, c *cli.Command) error {
	if err := only(c, "experiment run threats", "json", "part", "jobs"); err != nil {
		return err
	}
	w, asJSON := output(c), c.Bool("json")
	e := json.NewEncoder(w)
	failed := 0
	rows, err := threats.Run(ctx, threats.Options{
		Part: partOf(c).Has,
		Done: func(r threats.Row) {
			if !r.OK {
				failed++
			}
			if asJSON {
				_ = e.Encode(r)
				return
			}
			fmt.Fprintf(page.On(c.Root().ErrWriter), "%-55s %s\n", r.Attack, verdict(r))
		},
	})
	if !asJSON {
		if err := writeThreats(w, rows); err != nil {
			return err
		}
	}
	if err != nil {
		return interrupted(err, "")
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d rows fail", failed, len(rows))
	}
	return nil
}

func verdict(r threats.Row) string {
	switch {
	case r.Err != "":
		return "cannot be run: " + r.Err
	case r.OK:
		return "holds"
	}
	return "FAILS"
}

func writeThreats(w io.Writer, rows []threats.Row) error {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
	return tableOf(w, "ATTACK|WHERE|MEASURED|UNDEFENDED|DEFENDED|TARGET|OK|DEFENCE", rows, func(r threats.Row) []any {
		return []any{r.Attack, r.Where, r.Measured, number(r.Undefended), number(r.Defended), r.Target, verdict(r), r.Defence}
	})
}
