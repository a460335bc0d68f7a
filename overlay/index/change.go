package index

import (
	"math"
	"slices"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// staleShare bounds a column's stale nodes. The column is rewritten when more than 1/staleShare of its nodes are
// stale, or when a change adds more new nodes than that.
const staleShare = 6

// change updates a column to prefix p by adding the new nodes. It changes nothing and returns false if too many nodes
// have changed, or if p knows more or less of hash space than the column does.
func (x *Index) change(e *entry, p *summary.Prefix) bool {
	l := &e.stripe.group.layout
	limit := min(p.Plan().N/staleShare, math.MaxUint16)
	gone := int(e.gone)
	var added [Rows][]uint64
	for b := range l.used {
		if !slices.Equal(inside.Known(e.prefix, b), inside.Known(p, b)) {
			return false
		}
		fresh, old, ok := changed(e.prefix, p, b, int(l.blocks[b].level), limit)
		if gone += old; !ok || gone > limit {
			return false
		}
		added[b] = fresh
	}
	rows := l.rows()
	for b, nodes := range added {
		for _, v := range nodes {
			h, step := hash(v, b)
			for range l.blocks[b].rows {
				e.stripe.set(int(e.col), place(h, rows))
				h += step
			}
		}
	}
	e.prefix, e.gone = p, uint16(gone)
	return true
}

// changed compares the nodes of a block at a level to which both prefixes know it. It returns the nodes that only
// newer has, and the number of nodes that only older has. If either exceeds limit, it stops and ok is false.
// O(nodes).
func changed(older, newer *summary.Prefix, block, level, limit int) (added []uint64, gone int, ok bool) {
	var x, y inside.Walker
	x.Reset(older, block, level, 0, 1<<32)
	y.Reset(newer, block, level, 0, 1<<32)
	v, w := x.Next(), y.Next()
	for len(v) > 0 && len(w) > 0 && len(added) <= limit && gone <= limit {
		switch {
		case v[0] == w[0]:
			same := 1
			for n := min(len(v), len(w)); same < n && v[same] == w[same]; {
				same++
			}
			v, w = v[same:], w[same:]
		case v[0] < w[0]:
			gone++
			v = v[1:]
		default:
			added = append(added, w[0])
			w = w[1:]
		}
		if len(v) == 0 {
			v = x.Next()
		}
		if len(w) == 0 {
			w = y.Next()
		}
	}
	for ; len(v) > 0 && gone <= limit; v = x.Next() {
		gone += len(v)
	}
	for ; len(w) > 0 && len(added) <= limit; w = y.Next() {
		added = append(added, w...)
	}
	return added, gone, len(added) <= limit && gone <= limit
}
