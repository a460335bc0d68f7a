// Package inside gives access to the inside of prefixes: to the nodes of their tries, and to the regions of hash space
// that they know. It is for packages that keep many prefixes and compare or index them: overlay/index and
// overlay/compare. It is not part of the library's public face, and may change with these packages.
package inside

import (
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// Region is a range of a block's hash space that a prefix knows at one level: Begin to End-1, in units of 2^-32 of
// hash space.
type Region struct {
	Begin, End uint64
	Level      int
}

// Position returns the position of f in the hash space of a block. Its top l bits are the node of f at level l. O(1).
func Position(f summary.Fingerprint, block int) uint64 { return trie.Position(uint64(f), block) }

// Known returns the regions of a block that p knows, in the order of hash space. It returns none if p lacks the first
// part of the block. Outside of the known regions every key matches. O(regions).
func Known(p *summary.Prefix, block int) []Region {
	_, tries := p.Inside()
	if block >= len(tries) {
		return nil
	}
	var out []Region
	for _, r := range tries[block].Regions() {
		// A block's start level is at most log2 of the most keys, so a cell is a whole number of units.
		unit := 32 - tries[block].Start
		out = append(out, Region{uint64(r.Begin) << unit, uint64(r.End) << unit, r.Level})
	}
	return out
}

// Sample returns the region of block 0 that part 0 describes. It returns false for a prefix without a sample or
// without parts. O(1).
func Sample(p *summary.Prefix) (Region, bool) {
	end, level, ok := p.Plan().Sample()
	if !ok || p.Parts() == 0 {
		return Region{}, false
	}
	return Region{End: end, Level: level}, true
}

// Walker goes through the nodes of a block at a level, in order. The zero value has no nodes. Reset starts a walk.
type Walker struct{ w trie.Walker }

// Reset goes to the first node of a block at a level, within begin to end-1 of hash space, in the units of [Region].
// The level must not be deeper than any region known there. It panics if p knows nothing of the block.
// O(pieces).
func (w *Walker) Reset(p *summary.Prefix, block, level int, begin, end uint64) {
	_, tries := p.Inside()
	w.w.Reset(tries[block], spanOf(begin, end, level), level)
}

// Next returns the next nodes, a chunk or fewer at a time; nil at the end. They are valid until the next call. O(1) a
// node.
func (w *Walker) Next() []uint64 { return w.w.Next() }

// CountIn walks to the end. It returns the number of nodes, and the number of nodes whose bits are set in words. Bit
// i%64 of word i/64 is the bit of node i. O(nodes).
func (w *Walker) CountIn(words []uint64) (nodes, both int) { return w.w.CountIn(words) }

// spanOf returns the nodes of a level that lie wholly in begin to end-1 of hash space, in units of 2^-32.
func spanOf(begin, end uint64, level int) trie.Span {
	if level >= 32 {
		return trie.Span{Begin: begin << (level - 32), End: end << (level - 32)}
	}
	unit := 32 - level
	return trie.Span{Begin: (begin + 1<<unit - 1) >> unit, End: end >> unit}
}
