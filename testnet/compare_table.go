package testnet

import (
	"fmt"
	"io"
	"strings"
)

// WriteTable writes the comparison for people, within 80 columns.
func (c *Comparison) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d peers over %s, %d keys, %d holdings, %d queries of each kind, seed %d\n",
		c.Peers, c.Transport, c.Keys, c.Holdings, c.Queries, c.Seed)
	if c.Stopped != "" {
		fmt.Fprintf(&b, "ended early: %s\n", c.Stopped)
	}
	b.WriteString("\n                       join  --------------- announced ---------------   memory\n")
	fmt.Fprintf(&b, "  %-18s%7s%10s%9s%12s%14s%9s\n", "", "kB/peer", "holdings", "seconds", "B/holding", "msgs/holding", "MB/host")
	for _, r := range c.Rows {
		fmt.Fprintf(&b, "  %-18s%7.1f%10d%9.1f%12.1f%14.3f%9.2f\n", r.System, r.JoinBytes/1000, r.Announced, r.AnnounceSeconds, r.AnnounceBytes,
			r.AnnounceMessages, r.HostBytes/1e6)
	}
	b.WriteString("\n                      recall   p50 ms   p99 ms    msgs/query      B/query   wrong\n")
	for _, r := range c.Rows {
		r.FindOne.write(&b, r.System, "one")
		r.FindAll.write(&b, "", "all")
	}
	b.WriteString("\n")
	for _, r := range c.Rows {
		if r.Note != "" {
			fmt.Fprintf(&b, "  %s: %s\n", r.System, r.Note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (f FindStats) write(b *strings.Builder, name, kind string) {
	fmt.Fprintf(b, "  %-18s%-4s%6.4f%9.1f%9.1f%14.2f%13.0f%8d\n", name, kind, f.Recall, f.P50, f.P99, f.Messages, f.Bytes, f.Wrong)
}
