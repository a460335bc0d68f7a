package results

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// WriteTable writes what a scenario's runs have shown, for people: a line for each figure, and the recall over time.
func WriteTable(w io.Writer, s *scenario.Scenario, runs []*scenario.Run, rows []Row) error {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Scenario != s.Name })
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintf(w, "%s: %s\n\n", s.Name, strings.TrimSpace(s.Question))
	type column struct{ strategy, engine string }
	var columns []column
	for _, r := range rows {
		if c := (column{r.Strategy, r.Engine}); !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%d trials, 95 %% intervals\t", s.Trials)
	for _, c := range columns {
		fmt.Fprintf(t, "%s\t", c.strategy)
	}
	fmt.Fprintln(t)
	if slices.ContainsFunc(columns, func(c column) bool { return c.engine == scenario.Real }) {
		fmt.Fprint(t, "on\t")
		for _, c := range columns {
			fmt.Fprintf(t, "%s\t", map[string]string{scenario.Simulated: "simulator", scenario.Real: "real hosts"}[c.engine])
		}
		fmt.Fprintln(t)
	}
	for _, f := range s.Figures() {
		fmt.Fprintf(t, "%s\t", strings.TrimSuffix(f.Title+", "+f.Unit, ", "))
		for _, c := range columns {
			for _, r := range rows {
				if r.Figure == f.Name && r.Strategy == c.strategy && r.Engine == c.engine {
					fmt.Fprintf(t, "%s\t", r.Mean)
				}
			}
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nrecall by when queries began, from %v to %v; * is 1, 0 to 9 are tenths\n", s.Warmup, time.Duration(s.Warmup+s.Asking))
	for _, c := range columns {
		mine := slices.DeleteFunc(slices.Clone(runs), func(r *scenario.Run) bool {
			return r.Scenario != s.Name || r.Strategy != c.strategy || r.Engine != c.engine
		})
		fmt.Fprintf(w, "  %-22s %s\n", c.strategy, marks(RecallOverTime(mine)))
	}
	for _, r := range rows {
		if !r.Holds {
			fmt.Fprintf(w, "NOT AS IT WAS: %s, %s: %s is %s, the file says %s to %s\n", s.Name, r.Strategy, r.Figure, r.Mean, digits(r.Answer[0]), digits(r.Answer[1]))
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// marks draws recalls: a character a step.
func marks(over []RecallAt) string {
	var b strings.Builder
	for _, r := range over {
		switch {
		case r.Mean.Value >= 0.995:
			b.WriteByte('*')
		default:
			b.WriteByte('0' + byte(math.Floor(10*r.Mean.Value)))
		}
	}
	return b.String()
}
