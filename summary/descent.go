package summary

import "iter"

// Region is a part of a block's hash space, Begin to End-1 in units of 2^-32 of it, that a prefix knows at a level.
type Region struct {
	Begin, End uint64
	Level      int
}

// Position is where f lies in the hash space of a block. Its top l bits are the node of f at level l.
func Position(f Fingerprint, block int) uint64 { return position(f, block) }

// Blocks is the number of blocks that p knows something of: the first ones.
func (p *Prefix) Blocks() int { return len(p.tries) }

// Known is what p knows of a block, in the order of hash space. Elsewhere it cannot rule out any key.
func (p *Prefix) Known(block int) []Region {
	t := p.tries[block]
	var out []Region
	t.each(func(s *set, begin, end int) {
		// A block starts at no more than log2 of MaxKeys, so that cells are whole units.
		out = append(out, Region{uint64(begin) << (32 - t.start), uint64(end) << (32 - t.start), s.level(t.start)})
	})
	return out
}

// Nodes goes through the nodes of a block at a level, in order, some at a time: those in Begin to End-1, in units as in
// [Region], and of which something is known. The level is at most that of the regions there. The slices are valid until
// the next. O(nodes), one allocation.
func (p *Prefix) Nodes(block, level int, begin, end uint64) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		w := p.tries[block].walk(pieceOf(begin, end, level), level)
		for nodes := w.next(); nodes != nil; nodes = w.next() {
			if !yield(nodes) {
				return
			}
		}
	}
}

// pieceOf is the whole nodes of a level in begin to end-1 of hash space.
func pieceOf(begin, end uint64, level int) piece {
	if level >= 32 {
		return piece{begin << (level - 32), end << (level - 32)}
	}
	unit := 32 - level
	return piece{(begin + 1<<unit - 1) >> unit, end >> unit}
}

// Changed compares the nodes of a block at a level, at most that of what both know of it: those that only newer has,
// and how many only older has. It gives up, and ok is false, when there are more than limit of either. O(nodes).
func Changed(older, newer *Prefix, block, level, limit int) (added []uint64, gone int, ok bool) {
	all := pieceOf(0, 1<<32, level)
	x, y := older.tries[block].walk(all, level), newer.tries[block].walk(all, level)
	v, w := x.next(), y.next()
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
			v = x.next()
		}
		if len(w) == 0 {
			w = y.next()
		}
	}
	for ; len(v) > 0 && gone <= limit; v = x.next() {
		gone += len(v)
	}
	for ; len(w) > 0 && len(added) <= limit; w = y.next() {
		added = append(added, w...)
	}
	return added, gone, len(added) <= limit && gone <= limit
}
