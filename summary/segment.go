package summary

import (
	"slices"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// segment is a range of cells of a block, as long as possible, that the parts of a relative run bring from one level to
// a deeper one. Everywhere in it, the levels known before, after and in the base are the same. The run goes from the
// first to the last level at once: the division into parts leaves no trace in it.
type segment struct {
	begin, end int // cells
	from, to   int // levels; from is unknownLevel where nothing was known before
	given      int // level at which the base's nodes are used: deeper than from, at most to; unknownLevel: they are not
}

// segments returns the segments of a block that parts first to end-1 bring, given a base.
func (p *Plan) segments(block, first, end int, of *base) []segment {
	start := p.blocks[block].start
	before, after, given := p.knowledge(block, first), p.knowledge(block, end), of.block(block, start)
	cuts := given.cuts()
	for _, regions := range [][]trie.Region{before, after} {
		for _, r := range regions {
			cuts = append(cuts, r.Begin, r.End)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []segment
	for i := 1; i < len(cuts); i++ {
		s := segment{begin: cuts[i-1], end: cuts[i]}
		s.from, s.to = levelIn(before, s.begin), levelIn(after, s.begin)
		if s.given = min(given.level(s.begin), s.to); s.given <= s.from || s.given < int(start) {
			s.given = unknownLevel
		}
		last := len(out) - 1
		switch {
		case s.from >= s.to:
		case last >= 0 && out[last] == segment{out[last].begin, s.begin, s.from, s.to, s.given}:
			out[last].end = s.end
		default:
			out = append(out, s)
		}
	}
	return out
}

// levelIn returns the level of the region that has a cell; unknownLevel if none has it.
func levelIn(regions []trie.Region, cell int) int {
	for _, r := range regions {
		if r.Begin <= cell && cell < r.End {
			return r.Level
		}
	}
	return unknownLevel
}

// base has the decoded first parts of a summary, given which another summary is coded.
type base struct {
	plan   *Plan
	blocks []*trie.Block
	parts  int
}

// block returns the base's nodes of a block, for a caller whose cells are at level start.
func (b *base) block(block int, start uint8) givenBlock {
	if block >= len(b.blocks) {
		return givenBlock{start: start}
	}
	return givenBlock{start, b.blocks[block], b.plan.knowledge(block, b.parts)}
}

// givenBlock has a base's nodes of a block, for a caller whose cells may be of another level than the base's.
type givenBlock struct {
	start   uint8
	trie    *trie.Block
	regions []trie.Region // known regions, in cells of the base
}

// from returns the first cell of the base that shares hash space with a cell; until returns the last such cell plus 1.
func (g *givenBlock) from(cell int) int {
	if own := g.trie.Start; own >= g.start {
		return cell << (own - g.start)
	}
	return cell >> (g.start - g.trie.Start)
}

func (g *givenBlock) until(cell int) int {
	if own := g.trie.Start; own >= g.start {
		return (cell + 1) << (own - g.start)
	}
	return cell>>(g.start-g.trie.Start) + 1
}

// cuts returns the caller's cells where a region of the base may begin or end.
func (g *givenBlock) cuts() (cuts []int) {
	for _, r := range g.regions {
		for _, bound := range []int{r.Begin, r.End} {
			if own := g.trie.Start; own > g.start {
				cuts = append(cuts, bound>>(own-g.start), (bound+1<<(own-g.start)-1)>>(own-g.start))
			} else {
				cuts = append(cuts, bound<<(g.start-own))
			}
		}
	}
	return cuts
}

// level returns the deepest level at which the base knows all of a cell; unknownLevel if some of it is not known.
func (g *givenBlock) level(cell int) int {
	if g.trie == nil {
		return unknownLevel
	}
	level := maxLevel
	for at, end := g.from(cell), g.until(cell); at < end; {
		r := slices.IndexFunc(g.regions, func(r trie.Region) bool { return r.Begin <= at && at < r.End })
		if r < 0 {
			return unknownLevel
		}
		level, at = min(level, g.regions[r].Level), g.regions[r].End
	}
	return level
}

// nodes returns the base's nodes in a segment. They are in memory if that is large enough.
func (g *givenBlock) nodes(memory []uint64, s segment) []uint64 {
	nodes := g.trie.AppendNodes(memory, g.from(s.begin), g.until(s.end-1), s.given)
	in := s.room(g.start)
	from, _ := slices.BinarySearch(nodes, in.Begin)
	until, _ := slices.BinarySearch(nodes, in.End)
	if nodes = nodes[from:until]; s.given < int(g.trie.Start) { // several cells have one node
		nodes = slices.Compact(nodes)
	}
	return nodes
}

// room returns the span of nodes that the segment may have at level given.
func (s segment) room(start uint8) trie.Span {
	return trie.Region{Begin: s.begin, End: s.end, Level: s.given}.Nodes(start)
}
