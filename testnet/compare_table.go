package testnet

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// tableWidth is the columns of a comparison's table.
const tableWidth = 100

// WriteTable writes the comparison for people, within 100 columns.
func (c *Comparison) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d peers over %s, %d keys, %d holdings, %d queries of each kind, seed %d\n",
		c.Peers, c.Transport, c.Keys, c.Holdings, c.Queries, c.Seed)
	if c.Stopped != "" {
		fmt.Fprintf(&b, "ended early: %s\n", c.Stopped)
	}
	c.writeAnnounced(&b)
	c.writeFound(&b)
	c.writeNotes(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Comparison) writeAnnounced(b *strings.Builder) {
	b.WriteString("\n                           join  --------------- announced ---------------   memory\n")
	fmt.Fprintf(b, "  %-22s%7s%10s%9s%12s%14s%9s\n", "", "kB/peer", "holdings", "seconds", "B/holding", "msgs/holding", "MB/host")
	for _, r := range c.Rows {
		fmt.Fprintf(b, "  %-22s%7.1f%10d%9.1f%12.1f%14.3f%9.2f\n", r.System, r.JoinBytes/1000, r.Announced, r.AnnounceSeconds, r.AnnounceBytes,
			r.AnnounceMessages, r.HostBytes/1e6)
	}
}

func (c *Comparison) writeFound(b *strings.Builder) {
	fmt.Fprintf(b, "\n%28s%6s%20s%10s\n", "", "", "-- last found --", "over")
	fmt.Fprintf(b, "%28s%6s%10s%10s%10s%13s%13s%7s\n", "", "recall", "p50 ms", "p99 ms", "p50 ms", "msgs/query", "B/query", "wrong")
	for _, r := range c.Rows {
		r.FindOne.write(b, r.System, "one")
		r.FindAll.write(b, "", "all")
	}
}

func (f FindStats) write(b *strings.Builder, name, kind string) {
	over := "never"
	if f.Over > 0 {
		over = fmt.Sprintf("%.1f", f.Over)
	}
	fmt.Fprintf(b, "  %-22s%-4s%6.4f%10.1f%10.1f%10s%13.2f%13.0f%7d\n", name, kind, f.Recall, f.P50, f.P99, over, f.Messages, f.Bytes, f.Wrong)
}

// writeNotes says what a reader should know of the rows.
func (c *Comparison) writeNotes(b *strings.Builder) {
	b.WriteString("\n")
	var padded []string
	for _, r := range c.Rows {
		if r.Note != "" {
			wrap(b, r.System+": "+r.Note)
		}
		if r.Padded {
			padded = append(padded, r.System)
		}
	}
	wrap(b, "msgs/query, B/query: all that was sent meanwhile, upkeep too; both kinds of queries take turns, over the same connections")
	if c.Transport != Sim {
		wrap(b, "latencies are those of loopback: they show how busy the processors of this machine are, not the way that messages go")
	}
	wrap(b, "over: when the asker knows that there is nothing more to wait for; never: not within the time of a query, or not at all")
	if len(padded) > 0 {
		wrap(b, strings.Join(padded, ", ")+": messages are padding of their sizes. What they say is passed within the process and shared, "+
			"so memory lacks a part; a peer without a link is connected when it is first asked")
	}
}

// wrap writes a note, its further lines indented.
func wrap(b *strings.Builder, note string) {
	line := " "
	for _, word := range strings.Fields(note) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > tableWidth {
			b.WriteString(line + "\n")
			line = "   "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
