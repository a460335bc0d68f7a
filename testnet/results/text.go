package results

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// WriteText writes the results for people: a table for each scenario, the recall over time, and the figures that are
// outside their answers. A table has a column for each strategy, or a line for each case if there are many.
func (r Result) WriteText(w io.Writer) error {
	for _, g := range r.groups() {
		if err := r.write(w, g); err != nil {
			return err
		}
	}
	return WriteFiles(w, r.Files)
}

// WriteFiles writes a line for each file that was written.
func WriteFiles(w io.Writer, files []string) error {
	for _, f := range files {
		if _, err := fmt.Fprintln(w, "wrote", f); err != nil {
			return err
		}
	}
	return nil
}

// WriteTable writes a table under its head in capitals. Cells are aligned to the right from column right on.
func WriteTable(w io.Writer, right int, t report.Table) error {
	head := make([]string, len(t.Head))
	for i, h := range t.Head {
		head[i] = strings.ToUpper(h)
	}
	return page.Table(w, right, append([][]string{head}, t.Rows...)...)
}

// write writes a scenario's table. Without a sweep, it adds the recall over time and figures outside their answers.
func (r Result) write(w io.Writer, g group) error {
	if g.wide() {
		if err := WriteTable(w, 0, g.table(r.Slopes, short)); err != nil {
			return err
		}
		if t := g.lines(); len(t.Rows) > 0 {
			fmt.Fprintln(w)
			if err := WriteTable(w, 0, t); err != nil {
				return err
			}
		}
		return g.writeAhead(w)
	}
	fmt.Fprintf(w, "%s: %s\n\n", g.of.Name, strings.TrimSpace(g.of.Question))
	t := transposed(g.table(nil, title))
	t.Head[0] = fmt.Sprintf("%d trials, 95 %% intervals", g.of.Trials)
	if err := page.Table(w, 0, append([][]string{t.Head}, t.Rows...)...); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nrecall by when queries began, from %v to %v; * is 1, 0 to 9 are tenths\n", g.of.Warmup, time.Duration(g.of.Warmup+g.of.Asking))
	for _, c := range g.cases {
		fmt.Fprintf(w, "  %-22s %s\n", c.strategy, marks(RecallOverTime(c.runs)))
	}
	for _, row := range r.Rows {
		if row.Scenario == g.of.Name && !row.Holds {
			fmt.Fprintf(w, "NOT AS IT WAS: %s, %s: %s is %s, the file says %s to %s\n", row.Scenario, row.Strategy, row.Figure, row.Mean, statistics.Digits(row.Answer[0]), statistics.Digits(row.Answer[1]))
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// writeAhead writes the cases in which another strategy beats the first one.
func (g group) writeAhead(w io.Writer) error {
	if len(g.strategies()) < 2 {
		return nil
	}
	all, first := g.ahead(), g.of.Strategies[0]
	_, err := fmt.Fprintf(w, "\nahead of %s, in recall or at no less recall in messages and upkeep: %d of %d cases (figures of %[1]s in brackets)\n",
		first, len(Distinct(all, func(a Ahead) string { return a.At + a.Engine })), len(Distinct(g.cases, func(c situation) string { return c.of.Name + c.engine })))
	for _, a := range all {
		fmt.Fprintf(w, "  %s: %s by %s: %s\n", a.At, a.Strategy, a.By, a.Figures)
	}
	return err
}

// transposed returns the table with a column for each row. It leaves out the columns peers, sweep and trials, which
// are the same in all cases of a scenario without a sweep.
func transposed(t report.Table) report.Table {
	out := report.Table{Head: []string{t.Head[0]}}
	for _, row := range t.Rows {
		out.Head = append(out.Head, row[0])
	}
	for i, name := range t.Head[1:] {
		if name == "peers" || name == "sweep" || name == "trials" {
			continue
		}
		line := []string{name}
		for _, row := range t.Rows {
			line = append(line, row[i+1])
		}
		out.Rows = append(out.Rows, line)
	}
	return out
}

// marks draws recalls, a character for each step of time.
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
