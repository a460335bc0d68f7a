package index

import (
	"slices"

	"github.com/venn-p2p/venn/summary"
)

// staleShare is the part of a column's nodes, one in so many, that may have gone before it is written anew, and the
// part that may be new for it not to be.
const staleShare = 6

// change brings a column up to date by adding the nodes that are new. It does nothing and says false when too much has
// changed, or more or less of hash space is known.
func (x *Index) change(e *entry, p *summary.Prefix) bool {
	c := &e.group.class
	limit := p.Header().N / staleShare
	gone := e.gone
	var added [Rows][]uint64
	for b := range c.used {
		if !slices.Equal(e.prefix.Known(b), p.Known(b)) {
			return false
		}
		fresh, old, ok := summary.Changed(e.prefix, p, b, int(c.blocks[b].level), limit)
		if gone += old; !ok || gone > limit {
			return false
		}
		added[b] = fresh
	}
	rows := c.rows()
	for b, nodes := range added {
		for _, v := range nodes {
			h, step := hash(v, b)
			for range c.blocks[b].rows {
				e.stripe.set(e.col, place(h, rows))
				h += step
			}
		}
	}
	e.prefix, e.gone = p, gone
	return true
}
