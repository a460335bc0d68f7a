package summary

import "github.com/venn-p2p/venn/summary/internal/trie"

// assemble returns the state of a block after the first parts. The function pack returns the set of nodes at a level in
// cells begin to end-1.
func assemble(p *Plan, parts, block int, pack func(begin, end, level int) *trie.Set) *trie.Block {
	l := p.blocks[block]
	b := &trie.Block{Start: l.start}
	last := p.last(block, parts)
	for r, s := range last.ranges {
		if s != nil {
			begin, end := p.cells(s, s.first+r-s.lead)
			b.Put(pack(begin, end, s.to))
		}
	}
	if last.sample != nil && !b.Covers(0, l.sample) {
		b.PutBeneath(pack(0, l.sample, last.sample.to))
	}
	return b
}

// packer returns the function pack for assemble, from a function that appends the nodes of cells begin to end-1 at a
// level.
func packer(start uint8, nodes func(dst []uint64, begin, end, level int) []uint64) func(begin, end, level int) *trie.Set {
	var memory []uint64
	return func(begin, end, level int) *trie.Set {
		memory = nodes(memory[:0], begin, end, level)
		return trie.NewSet(memory, begin, end, level-int(start))
	}
}

// truncate returns the state of a block after its first parts, given a later state b. It shares every set with b except
// the sets that the dropped parts refined.
func truncate(b *trie.Block, p *Plan, block, parts int) *trie.Block {
	pack := packer(b.Start, b.AppendNodes)
	return assemble(p, parts, block, func(begin, end, level int) *trie.Set {
		if s := b.Shared(begin, end, level); s != nil {
			return s
		}
		return pack(begin, end, level)
	})
}
