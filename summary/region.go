package summary

// Region is a part of a block's hash space that a prefix knows at one level. Begin and End-1 are its first and last
// places, in units of 2^-32 of hash space.
type Region struct {
	Begin, End uint64
	Level      int
}

// Position is where f lies in the hash space of a block. Its top l bits are the node of f at level l.
func Position(f Fingerprint, block int) uint64 { return position(f, block) }

// Known returns the regions of a block that p knows, in the order of hash space; none of a block whose first part p has
// not. Outside of them every key matches.
func (p *Prefix) Known(block int) []Region {
	if block >= len(p.tries) {
		return nil
	}
	t := p.tries[block]
	var out []Region
	t.each(func(s *set, begin, end int) {
		// A block starts at no more than log2 of MaxKeys, so that cells are whole units.
		out = append(out, Region{uint64(begin) << (32 - t.start), uint64(end) << (32 - t.start), s.level(t.start)})
	})
	return out
}

// Sample returns the region of block 0 that part 0 brings; false for a prefix without a sample.
func (p *Prefix) Sample() (Region, bool) {
	s := &p.plan.steps[0]
	if len(p.tries) == 0 || !s.sample {
		return Region{}, false
	}
	t := p.tries[0]
	return Region{End: uint64(t.layout.sample) << (32 - t.start), Level: s.to}, true
}

// Nodes walks through the nodes of a block at a level, in order. Overlays index and compare nodes. The zero value has
// none. Reset starts a walk, and allocates nothing when a Nodes is used again.
type Nodes struct{ w walker }

// Reset goes to the first node of a block at a level, in hash space Begin to End-1 in the units of [Region]. The level
// is at most that of the regions known there.
func (n *Nodes) Reset(p *Prefix, block, level int, begin, end uint64) {
	n.w.reset(p.tries[block], pieceOf(begin, end, level), level)
}

// Next returns the next nodes, some at a time; nil at the end. They are valid until the next call.
func (n *Nodes) Next() []uint64 { return n.w.next() }

// Has reports whether a block, known there at least as deep as a level, has a node of that level, or one below it.
// O(1).
func (n *Nodes) Has(p *Prefix, block, level int, node uint64) bool {
	return p.tries[block].has(node, level)
}

// CountIn walks to the end. It counts the nodes, and those whose bits are set in words: bit i%64 of word i/64 for node
// i. O(nodes).
func (n *Nodes) CountIn(words []uint64) (nodes, both int) {
	for w := &n.w; w.left > 0 || w.open(); {
		if w.lower == 0 && w.whole {
			both += w.it.countIn(words, w.left)
			nodes += w.left
			w.left = 0
			continue
		}
		list := w.buffer[:w.it.fill(w.buffer[:min(chunk, w.left)])]
		w.left -= len(list)
		list = w.fold(list)
		nodes += len(list)
		for _, v := range list {
			both += int(words[v/64] >> (v % 64) & 1)
		}
	}
	return nodes, both
}

// has reports whether t, known there at least as deep, has a node of a level, or one below it.
func (t *trie) has(node uint64, level int) bool {
	s := t.find(int(node >> (level - int(t.start))))
	return s != nil && s.has(node, s.level(t.start)-level)
}

// pieceOf is the whole nodes of a level in begin to end-1 of hash space.
func pieceOf(begin, end uint64, level int) piece {
	if level >= 32 {
		return piece{begin << (level - 32), end << (level - 32)}
	}
	unit := 32 - level
	return piece{(begin + 1<<unit - 1) >> unit, end >> unit}
}
