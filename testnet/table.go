package testnet

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/venn-p2p/venn/testnet/page"
)

// WriteText writes the report for people, within 80 columns.
func (r *Report) WriteText(w io.Writer) error {
	p := page.On(w)
	r.writeOutcome(p)
	r.writeClasses(p)
	r.writeTraffic(p)
	r.writeChurn(p)
	r.writeAdds(p)
	return p.Err
}

// writeOutcome writes the settings, notes, recall and latency.
func (r *Report) writeOutcome(p *page.Page) {
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
	fmt.Fprintf(p, "%d peers over %s, %d keys, %d holdings, seed %d\n", r.Peers, over, r.Keys, r.Holdings, r.Seed)
	if r.Interrupted != "" {
		fmt.Fprintf(p, "ended early while %s: %s\nwhat follows is what was known by then\n", r.Phase, r.Interrupted)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(p, "note: %s\n", n)
	}
	converged := "not reached"
	if r.ConvergenceSeconds != nil {
		converged = fmt.Sprintf("%.1f s", *r.ConvergenceSeconds)
	}
	latency := "–"
	if l := r.LatencyMillis; l.P50 != nil && l.P99 != nil {
		latency = fmt.Sprintf("p50 %.0f ms, p99 %.0f ms", *l.P50, *l.P99)
	}
	rows(p, [][2]string{
		{"time in all", fmt.Sprintf("%.1f s", r.WallSeconds)},
		{"every peer knows every other after", converged},
		{"", ""},
		{"queries like", r.QueriesLike},
		{"find one: recall", fmt.Sprintf("%s   (%d of %d queries answered)", ratio(r.FindOne.Recall), r.FindOne.Answered, r.FindOne.Queries)},
		{"find all: recall", fmt.Sprintf("%s   (%d queries)", ratio(r.FindAll.Recall), r.FindAll.Queries)},
		{"latency", latency},
	})
	if r.QueryErrors > 0 || r.WrongHolders > 0 {
		rows(p, [][2]string{{"query errors, wrong holders", fmt.Sprintf("%d, %d", r.QueryErrors, r.WrongHolders)}})
	}
}

// rows writes names and figures in two columns.
func rows(p *page.Page, of [][2]string) {
	for _, row := range of {
		fmt.Fprintln(p, strings.TrimRight(fmt.Sprintf("  %-37s%s", row[0], row[1]), " "))
	}
}

func ratio(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *v)
}

// writeClasses writes a line for each link class, the slowest first, and one for all.
func (r *Report) writeClasses(p *page.Page) {
	table := [][]string{
		{"", "", "parts", "kB", "false", "recall", "recall", "probes/", "false/", "found/"},
		{"  link", "peers", "held", "held", "matches", "one", "all", "query", "query", "query"},
	}
	for _, name := range r.links() {
		c := r.Classes[name]
		held := []string{"–", "–", "–"}
		if c.Peers > 0 {
			held = []string{fmt.Sprintf("%.0f", c.PartsHeld), fmt.Sprintf("%.1f", c.BytesHeld/1000), fmt.Sprintf("%.2f", c.FalseMatches)}
		}
		table = append(table, slices.Concat([]string{"  " + name, fmt.Sprint(c.Peers)}, held, []string{ratio(c.FindOneRecall), ratio(c.FindAllRecall)}, c.columns()))
	}
	all := append([]string{"  all", fmt.Sprint(r.Peers), "", "", "", ratio(r.FindOne.Recall), ratio(r.FindAll.Recall)}, r.columns()...)
	fmt.Fprintln(p)
	_ = page.Table(p, 1, append(table, all)...) // the page keeps the error
}

// links names the link classes, the slowest first.
func (r *Report) links() []string {
	return slices.SortedFunc(maps.Keys(r.Classes), func(a, b string) int {
		return cmp.Compare(r.Classes[a].Rate, r.Classes[b].Rate)
	})
}

func (c Costs) columns() []string {
	return []string{hundredths(c.ProbesPerQuery), hundredths(c.FalseProbes), hundredths(c.HoldersPerQuery)}
}

func hundredths(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *v)
}

// writeTraffic writes messages, bytes, connections, neighbours and memory.
func (r *Report) writeTraffic(p *page.Page) {
	left := "not counted: the peers still run"
	if r.GoroutinesLeft != nil {
		left = fmt.Sprint(*r.GoroutinesLeft)
	}
	share := "–"
	if n := r.Neighbours; n.Peers > 0 {
		share = fmt.Sprintf("%.3f (by chance %.3f, at best %.3f)", n.Mean, n.Random, n.Best)
	}
	fmt.Fprintln(p)
	rows(p, [][2]string{
		{"messages per query", hundredths(r.MessagesPerQuery)},
		{"summaries sent per peer", fmt.Sprintf("%.1f kB", r.SummaryBytes/1000)},
		{"parts by pubsub, directly", fmt.Sprintf("%.1f MB, %.1f MB", float64(r.PubsubBytes)/1e6, float64(r.DirectBytes)/1e6)},
		{"epochs published", fmt.Sprint(r.EpochsPublished)},
		{"most of a link's budget used", fmt.Sprintf("%.2f", r.LinkBudgetUse)},
		{"most connections of a peer", fmt.Sprint(r.ConnectionsMax)},
		{"neighbours' share of own keys", share},
		{"memory", fmt.Sprintf("%.0f MB", float64(r.MemoryBytes)/1e6)},
		{"goroutines left", left},
	})
	if r.Faulty > 0 {
		refused := uint64(0)
		for _, n := range r.Refused {
			refused += n
		}
		rows(p, [][2]string{{"faulty peers, messages refused", fmt.Sprintf("%d, %d (%d of honest peers)", r.Faulty, refused, r.Wronged)}})
	}
}

// writeChurn writes changes and bytes while collections changed, and the recall by minute.
func (r *Report) writeChurn(p *page.Page) {
	c := r.Churn
	if c == nil {
		return
	}
	fmt.Fprintln(p)
	rows(p, [][2]string{
		{"keys changed", fmt.Sprintf("%d removed, %d added in %.1f min", c.Removed, c.Added, c.Minutes)},
		{"epochs learned by deltas", fmt.Sprintf("%d, of %.1f MB in place of %.1f MB", r.Deltas, float64(r.DeltaBytes)/1e6, float64(r.FullBytes)/1e6)},
		{"all summary bytes meanwhile", fmt.Sprintf("%.1f MB, %.3f of sending all parts again", float64(c.SummaryBytes)/1e6, c.ShareOfParts)},
	})
	for i, m := range c.Recall {
		rows(p, [][2]string{{fmt.Sprintf("recall in minute %d: one, all", i+1), ratio(m.FindOne) + ", " + ratio(m.FindAll)}})
	}
}

// writeAdds writes a line for each class of links of the peers that looked for new keys, and one for all.
func (r *Report) writeAdds(p *page.Page) {
	a := r.Adds
	if a == nil {
		return
	}
	fmt.Fprintf(p, "\n  %d keys added, %g a second by each peer, in %.1f min; waited for during %.0f s:\n",
		a.Added, a.Rate, a.Minutes, a.Within)
	table := [][]string{{"  finder's link", "keys", "never", "recall", "p50 ms", "p99 ms", "B/change, to", "budget"}}
	line := func(name string, f Freshness) {
		table = append(table, []string{
			"  " + name, fmt.Sprint(f.Keys), fmt.Sprint(f.Never), ratio(f.Recall), a.time(f, f.P50), a.time(f, f.P99), fmt.Sprintf("%.1f", f.Bytes), fmt.Sprintf("%.2f", f.BudgetUse),
		})
	}
	for _, name := range r.links() {
		line(name, a.Classes[name])
	}
	line("all", a.All)
	_ = page.Table(p, 1, table...) // the page keeps the error
	rows(p, [][2]string{
		{"of B/change, messages of tails", fmt.Sprintf("%.1f", a.Tails)},
		{"messages of all queries, a new key", fmt.Sprintf("%.1f", a.Asked)},
	})
	if a.All.Wrong > 0 {
		rows(p, [][2]string{{"wrong holders of new keys", fmt.Sprint(a.All.Wrong)}})
	}
}

// time formats a quantile of the times in which keys were found, in ms: ">" and the limit if too few were found, "–" if
// there were no keys.
func (a *Adds) time(f Freshness, ms *float64) string {
	switch {
	case f.Keys == 0:
		return "–"
	case ms == nil:
		return fmt.Sprintf(">%.0f", a.Within*1000)
	}
	return fmt.Sprintf("%.0f", *ms)
}
