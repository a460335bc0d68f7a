package testnet

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteTable writes the report for people, within 80 columns.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	r.writeOutcome(&b)
	r.writeClasses(&b)
	r.writeTraffic(&b)
	r.writeChurn(&b)
	r.writeAdds(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeOutcome(b *strings.Builder) {
	over := string(r.Transport)
	if r.Shaped {
		over = "shaped " + over
	}
	switch {
	case r.Parts > 1:
		over += fmt.Sprintf(" in %d parts", r.Parts)
	case r.Part != "":
		over += ", part " + r.Part + " of them"
	}
	fmt.Fprintf(b, "%d peers over %s, %d keys, %d holdings, seed %d\n", r.Peers, over, r.Keys, r.Holdings, r.Seed)
	if r.Interrupted != "" {
		fmt.Fprintf(b, "ended early while %s: %s\nwhat follows is what was known by then\n", r.Phase, r.Interrupted)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "note: %s\n", n)
	}
	converged := "not reached"
	if r.ConvergenceSeconds != nil {
		converged = fmt.Sprintf("%.1f s", *r.ConvergenceSeconds)
	}
	latency := "–"
	if l := r.LatencyMillis; l.P50 != nil && l.P99 != nil {
		latency = fmt.Sprintf("p50 %.0f ms, p99 %.0f ms", *l.P50, *l.P99)
	}
	rows(b, [][2]string{
		{"time in all", fmt.Sprintf("%.1f s", r.WallSeconds)},
		{"every peer knows every other after", converged},
		{"", ""},
		{"queries like", r.QueriesLike},
		{"find one: recall", fmt.Sprintf("%s   (%d of %d queries answered)", ratio(r.FindOne.Recall), r.FindOne.Answered, r.FindOne.Queries)},
		{"find all: recall", fmt.Sprintf("%s   (%d queries)", ratio(r.FindAll.Recall), r.FindAll.Queries)},
		{"latency", latency},
	})
	if r.QueryErrors > 0 || r.WrongHolders > 0 {
		rows(b, [][2]string{{"query errors, wrong holders", fmt.Sprintf("%d, %d", r.QueryErrors, r.WrongHolders)}})
	}
}

// rows writes names and figures in two columns.
func rows(b *strings.Builder, of [][2]string) {
	for _, row := range of {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-37s%s", row[0], row[1]), " ") + "\n")
	}
}

func ratio(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *v)
}

// writeClasses writes a line for each link class, the slowest first, and one for all.
func (r *Report) writeClasses(b *strings.Builder) {
	b.WriteString("\n                   ---- held of others ---  --- recall ---  ----- per query ----\n")
	fmt.Fprintf(b, "  %-10s%6s%7s%9s%8s%8s%8s%8s%7s%7s\n", "link", "peers", "parts", "kB", "false", "one", "all", "probes", "false", "found")
	for _, name := range r.links() {
		c := r.Classes[name]
		fmt.Fprintf(b, "  %-10s%6d%7.0f%9.1f%8.2f%8s%8s%s\n", name, c.Peers, c.PartsHeld, c.BytesHeld/1000, c.FalseMatches,
			ratio(c.FindOneRecall), ratio(c.FindAllRecall), c.columns())
	}
	fmt.Fprintf(b, "  %-10s%6d%24s%8s%8s%s\n", "all", r.Peers, "", ratio(r.FindOne.Recall), ratio(r.FindAll.Recall), r.columns())
}

// links names the link classes, the slowest first.
func (r *Report) links() []string {
	return slices.SortedFunc(maps.Keys(r.Classes), func(a, b string) int {
		return cmp.Compare(r.Classes[a].Rate, r.Classes[b].Rate)
	})
}

func (c Costs) columns() string {
	return fmt.Sprintf("%8s%7s%7s", hundredths(c.ProbesPerQuery), hundredths(c.FalseProbes), hundredths(c.HoldersPerQuery))
}

func hundredths(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *v)
}

func (r *Report) writeTraffic(b *strings.Builder) {
	left := "not counted: the peers still run"
	if r.GoroutinesLeft != nil {
		left = fmt.Sprint(*r.GoroutinesLeft)
	}
	b.WriteString("\n")
	rows(b, [][2]string{
		{"messages per query", hundredths(r.MessagesPerQuery)},
		{"summaries sent per peer", fmt.Sprintf("%.1f kB", r.SummaryBytes/1000)},
		{"parts by pubsub, directly", fmt.Sprintf("%.1f MB, %.1f MB", float64(r.PubsubBytes)/1e6, float64(r.DirectBytes)/1e6)},
		{"epochs published", fmt.Sprint(r.EpochsPublished)},
		{"most of a link's budget used", fmt.Sprintf("%.2f", r.LinkBudgetUse)},
		{"most connections of a peer", fmt.Sprint(r.ConnectionsMax)},
		{"neighbours' share of own keys", fmt.Sprintf("%.3f (by chance %.3f, at best %.3f)", r.Neighbours.Mean, r.Neighbours.Random, r.Neighbours.Best)},
		{"memory", fmt.Sprintf("%.0f MB", float64(r.MemoryBytes)/1e6)},
		{"goroutines left", left},
	})
	if r.Faulty > 0 {
		refused := uint64(0)
		for _, n := range r.Refused {
			refused += n
		}
		rows(b, [][2]string{{"faulty peers, messages refused", fmt.Sprintf("%d, %d (%d of honest peers)", r.Faulty, refused, r.Wronged)}})
	}
}

func (r *Report) writeChurn(b *strings.Builder) {
	c := r.Churn
	if c == nil {
		return
	}
	b.WriteString("\n")
	rows(b, [][2]string{
		{"keys changed", fmt.Sprintf("%d removed, %d added in %.1f min", c.Removed, c.Added, c.Minutes)},
		{"epochs learned by deltas", fmt.Sprintf("%d, of %.1f MB in place of %.1f MB", r.Deltas, float64(r.DeltaBytes)/1e6, float64(r.FullBytes)/1e6)},
		{"all summary bytes meanwhile", fmt.Sprintf("%.1f MB, %.3f of sending all parts again", float64(c.SummaryBytes)/1e6, c.ShareOfParts)},
	})
	for i, m := range c.Recall {
		rows(b, [][2]string{{fmt.Sprintf("recall in minute %d: one, all", i+1), ratio(m.FindOne) + ", " + ratio(m.FindAll)}})
	}
}

// writeAdds writes a line for each link class of those that looked for new keys, and one for all.
func (r *Report) writeAdds(b *strings.Builder) {
	a := r.Adds
	if a == nil {
		return
	}
	fmt.Fprintf(b, "\n  %d keys added, %g a second by each peer, in %.1f min; waited for during %.0f s:\n",
		a.Added, a.Rate, a.Minutes, a.Within)
	fmt.Fprintf(b, "  %-14s%6s%7s%8s%9s%9s%14s%8s\n", "finder's link", "keys", "never", "recall", "p50 ms", "p99 ms", "B/change, to", "budget")
	line := func(name string, f Freshness) {
		fmt.Fprintf(b, "  %-14s%6d%7d%8s%9s%9s%14.1f%8.2f\n", name, f.Keys, f.Never, ratio(f.Recall), a.time(f, f.P50), a.time(f, f.P99), f.Bytes, f.BudgetUse)
	}
	for _, name := range r.links() {
		line(name, a.Classes[name])
	}
	line("all", a.All)
	rows(b, [][2]string{
		{"of B/change, messages of tails", fmt.Sprintf("%.1f", a.Tails)},
		{"messages of all queries, a new key", fmt.Sprintf("%.1f", a.Asked)},
	})
	if a.All.Wrong > 0 {
		rows(b, [][2]string{{"wrong holders of new keys", fmt.Sprint(a.All.Wrong)}})
	}
}

// time is a quantile of times to find, in ms.
func (a *Adds) time(f Freshness, ms *float64) string {
	switch {
	case f.Keys == 0:
		return "–"
	case ms == nil:
		return fmt.Sprintf(">%.0f", a.Within*1000)
	}
	return fmt.Sprintf("%.0f", *ms)
}
