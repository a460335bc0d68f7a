package summary

import "github.com/venn-p2p/venn/summary/internal/trie"

// Region is a part of a block's hash space that a prefix knows at one level. Begin and End-1 are its first and last
// places, in units of 2^-32 of hash space.
type Region struct {
	Begin, End uint64
	Level      int
}

// Position is where f lies in the hash space of a block. Its top l bits are the node of f at level l. O(1).
func Position(f Fingerprint, block int) uint64 { return position(f, block) }

// Known returns the regions of a block that p knows, in the order of hash space. It returns none of a block whose first
// part p lacks. Outside of them every key matches. O(regions).
func (p *Prefix) Known(block int) []Region {
	tries := p.blocks()
	if block >= len(tries) {
		return nil
	}
	t := tries[block]
	var out []Region
	for _, r := range regionsOf(t) {
		// A block starts at no more than log2 of maxKeys, so that cells are whole units.
		out = append(out, Region{uint64(r.Begin) << (32 - t.Start), uint64(r.End) << (32 - t.Start), r.Level})
	}
	return out
}

// Sample returns the region of block 0 that part 0 brings; false for a prefix without a sample. O(1).
func (p *Prefix) Sample() (Region, bool) {
	s := &p.plan.steps[0]
	if p.held == 0 || !s.sample {
		return Region{}, false
	}
	l := p.plan.blocks[0]
	return Region{End: uint64(l.sample) << (32 - l.start), Level: s.to}, true
}

// Nodes walks through the nodes of a block at a level, in order. Overlays index and compare nodes. The zero value has
// none. Reset starts a walk, and allocates nothing when a Nodes is used again.
type Nodes struct{ w trie.Walker }

// Reset goes to the first node of a block at a level, in hash space Begin to End-1 in the units of [Region]. The level
// is at most that of the regions known there. It panics if p knows nothing of the block. O(pieces).
func (n *Nodes) Reset(p *Prefix, block, level int, begin, end uint64) {
	n.w.Reset(p.block(block), spanOf(begin, end, level), level)
}

// Next returns the next nodes, some at a time; nil at the end. They are valid until the next call. O(1) a node.
func (n *Nodes) Next() []uint64 { return n.w.Next() }

// Has reports whether a block, known there at least as deep as a level, has a node of that level, or one below it.
// O(1).
func (n *Nodes) Has(p *Prefix, block, level int, node uint64) bool {
	if block == 0 && p.front.End() > 0 {
		return p.front.HasAt(node, level)
	}
	return p.tries[block].Has(node, level)
}

// CountIn walks to the end. It counts the nodes, and those whose bits are set in words: bit i%64 of word i/64 for node
// i. O(nodes).
func (n *Nodes) CountIn(words []uint64) (nodes, both int) { return n.w.CountIn(words) }

// spanOf is the whole nodes of a level in begin to end-1 of hash space.
func spanOf(begin, end uint64, level int) trie.Span {
	if level >= 32 {
		return trie.Span{Begin: begin << (level - 32), End: end << (level - 32)}
	}
	unit := 32 - level
	return trie.Span{Begin: (begin + 1<<unit - 1) >> unit, End: end >> unit}
}
