package summary

import "slices"

// trie is the known state of one block: for each range of cells, its nodes at the deepest level received. Immutable.
type trie struct {
	layout
	ranges []*set // nil where nothing is known, or only what the sample says
	sample *set   // part 0, until every range it lies in is deeper
}

// find is the set that knows a cell, nil if none does.
func (t *trie) find(cell int) *set {
	if s := t.ranges[t.rangeOf(cell)]; s != nil && cell >= s.begin {
		return s
	}
	if t.sample != nil && cell < t.sample.end {
		return t.sample
	}
	return nil
}

// contains reports whether the block may have a key at position x.
func (t *trie) contains(x uint64) bool {
	s := t.find(int(x >> (64 - t.start)))
	return s == nil || s.contains(x>>(64-int(t.start)-s.depth))
}

// each calls f for the sets that together are all that is known, in the order of hash space; begin and end say which
// cells to take from each.
func (t *trie) each(f func(s *set, begin, end int)) {
	done := 0
	emit := func(s *set, end int) {
		if begin := max(done, s.begin); begin < end {
			f(s, begin, end)
			done = end
		}
	}
	for _, s := range t.ranges {
		if s == nil {
			continue
		}
		if t.sample != nil && done < s.begin {
			emit(t.sample, min(t.sample.end, s.begin))
		}
		emit(s, s.end)
	}
	if t.sample != nil {
		emit(t.sample, t.sample.end)
	}
}

// appendNodes appends the nodes of cells begin to end-1 at a level. What is known there is at least as deep.
func (t *trie) appendNodes(dst []uint64, begin, end, level int) []uint64 {
	dst = slices.Grow(dst, t.mostNodes(begin, end))
	t.each(func(s *set, from, to int) {
		from, to = max(from, begin), min(to, end)
		if from < to {
			dst = s.appendCells(dst, from, to, s.level(t.start)-level)
		}
	})
	return dst
}

// mostNodes is the number of nodes that t knows in cells begin to end-1. A level above has at most as many.
func (t *trie) mostNodes(begin, end int) int {
	n := 0
	t.each(func(s *set, from, to int) {
		if from, to = max(from, begin), min(to, end); from < to {
			n += s.countCells(from, to)
		}
	})
	return n
}

// falsePositives is the share of hash space that the block cannot rule out.
func (t *trie) falsePositives() float64 {
	cells := float64(int(1) << t.start)
	unknown := cells
	hit := 0.0
	t.each(func(s *set, begin, end int) {
		unknown -= float64(end - begin)
		hit += float64(s.countCells(begin, end)) / float64(uint64(1)<<s.depth)
	})
	return (unknown + hit) / cells
}

// setRange replaces the state of a range. It drops the sample once no range needs it.
func (t *trie) setRange(r int, s *set) {
	t.ranges[r] = s
	t.dropSample()
}

// dropSample forgets the sample if the ranges cover it.
func (t *trie) dropSample() {
	if t.sample != nil && t.beyondSample() {
		t.sample = nil
	}
}

// beyondSample reports whether the ranges cover the sample.
func (t *trie) beyondSample() bool {
	for cell := 0; cell < t.layout.sample; {
		at := t.rangeOf(cell)
		if have := t.ranges[at]; have == nil || have.begin > cell {
			return false
		}
		cell = t.bound(at + 1)
	}
	return true
}

// assemble returns the state of a block after the first parts. The function nodes appends the nodes of cells begin to
// end-1 at a level.
func assemble(p *Plan, parts, block int, nodes func(dst []uint64, begin, end, level int) []uint64) *trie {
	l := p.blocks[block]
	t := &trie{layout: l, ranges: make([]*set, l.ranges)}
	last := p.last(block, parts)
	var memory []uint64
	pack := func(begin, end, level int) *set {
		memory = nodes(memory[:0], begin, end, level)
		return newSet(memory, begin, end, level-int(l.start))
	}
	for r, s := range last.ranges {
		if s != nil {
			begin, end := p.cells(s, s.first+r-s.lead)
			t.ranges[r] = pack(begin, end, s.to)
		}
	}
	if last.sample != nil {
		t.sample = pack(0, l.sample, last.sample.to)
		t.dropSample()
	}
	return t
}

// truncate returns the block's state after the first parts, where t is its state after the first held parts. It shares
// every set with t except those that the dropped parts refined.
func (t *trie) truncate(p *Plan, block, held, parts int) *trie {
	before, after := p.last(block, held), p.last(block, parts)
	if before.sample == after.sample && slices.Equal(before.ranges, after.ranges) {
		return t
	}
	q := &trie{layout: t.layout, ranges: make([]*set, len(t.ranges))}
	pack := func(begin, end, level int) *set {
		return newSet(t.appendNodes(nil, begin, end, level), begin, end, level-int(t.start))
	}
	for r, s := range after.ranges {
		if s == before.ranges[r] {
			q.ranges[r] = t.ranges[r]
		} else if s != nil {
			begin, end := p.cells(s, s.first+r-s.lead)
			q.ranges[r] = pack(begin, end, s.to)
		}
	}
	switch {
	case after.sample == nil || q.beyondSample():
	case t.sample != nil:
		q.sample = t.sample
	default:
		q.sample = pack(0, t.layout.sample, after.sample.to)
	}
	return q
}

// clone copies t, not its sets.
func (t *trie) clone() *trie {
	c := *t
	c.ranges = append([]*set(nil), t.ranges...)
	return &c
}

// bytes is about what the sets of t take in memory.
func (t *trie) bytes() int {
	size := 8*len(t.ranges) + 64
	for _, s := range t.ranges {
		if s != nil {
			size += s.bytes()
		}
	}
	if t.sample != nil {
		size += t.sample.bytes()
	}
	return size
}
