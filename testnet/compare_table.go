package testnet

import (
	"fmt"
	"io"
	"strings"

	"github.com/venn-p2p/venn/testnet/page"
)

// WriteText writes the comparison for people.
func (c *Comparison) WriteText(w io.Writer) error {
	p := page.On(w)
	fmt.Fprintf(p, "%d peers over %s, %d keys, %d holdings, %d queries of each kind, seed %d\n",
		c.Peers, c.Transport, c.Keys, c.Holdings, c.Queries, c.Seed)
	if c.Stopped != "" {
		fmt.Fprintf(p, "ended early: %s\n", c.Stopped)
	}
	announced := [][]string{{"  to join and announce", "kB/peer", "holdings", "seconds", "B/holding", "msgs/holding", "MB/host"}}
	found := [][]string{
		{"", "", "", "last found", "last found", "over", "", "", ""},
		{"  to find", "", "recall", "p50 ms", "p99 ms", "p50 ms", "msgs/query", "B/query", "wrong"},
	}
	for _, r := range c.Rows {
		announced = append(announced, []string{
			"  " + r.System, fmt.Sprintf("%.1f", r.JoinBytes/1000), fmt.Sprint(r.Announced), fmt.Sprintf("%.1f", r.AnnounceSeconds),
			fmt.Sprintf("%.1f", r.AnnounceBytes), fmt.Sprintf("%.3f", r.AnnounceMessages), fmt.Sprintf("%.2f", r.HostBytes/1e6),
		})
		found = append(found, r.FindOne.row(r.System, "one"), r.FindAll.row("", "all"))
	}
	for _, table := range [][][]string{announced, found} {
		fmt.Fprintln(p)
		_ = page.Table(p, 1, table...) // the page keeps the error
	}
	c.writeNotes(p)
	return p.Err
}

func (f FindStats) row(name, kind string) []string {
	over := "never"
	if f.Over > 0 {
		over = fmt.Sprintf("%.1f", f.Over)
	}
	return []string{
		"  " + name, kind, fmt.Sprintf("%.4f", f.Recall), fmt.Sprintf("%.1f", f.P50), fmt.Sprintf("%.1f", f.P99), over,
		fmt.Sprintf("%.2f", f.Messages), fmt.Sprintf("%.0f", f.Bytes), fmt.Sprint(f.Wrong),
	}
}

// writeNotes writes the notes that a reader of the rows needs.
func (c *Comparison) writeNotes(w io.Writer) {
	notes := []string{""}
	var padded []string
	for _, r := range c.Rows {
		if r.Note != "" {
			notes = append(notes, r.System+": "+r.Note)
		}
		if r.Padded {
			padded = append(padded, r.System)
		}
	}
	notes = append(notes, "msgs/query, B/query: all that was sent meanwhile, upkeep too; both kinds of queries take turns, over the same connections")
	if c.Transport != Sim {
		notes = append(notes, "latencies are those of loopback: they show how busy the processors of this machine are, not the way that messages go")
	}
	notes = append(notes, "over: when the asker knows that there is nothing more to wait for; never: not within the time of a query, or not at all")
	if len(padded) > 0 {
		notes = append(notes, strings.Join(padded, ", ")+": messages are padding of their sizes. What they say is passed within the process and shared, "+
			"so memory lacks a part; a peer without a link is connected when it is first asked")
	}
	for _, n := range notes {
		fmt.Fprintln(w, strings.TrimRight("  "+n, " "))
	}
}
