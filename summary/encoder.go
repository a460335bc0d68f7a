package summary

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// Build makes the summary of a collection: all its parts, under a header that is to be signed. The header gives Seed,
// Origin, Epoch, Lifetime and Shape, where the zero shape stands for DefaultShape. Build sets N and Chain, removes
// duplicates, and leaves fps as it is. A header out of its ranges is ErrLimit or ErrMalformed. Fingerprints that are
// not spread as those of a keyed hash are ErrMalformed, for decoders would refuse the stream. O(n) on average for
// sorting, O(n) for each level.
func Build(fps []Fingerprint, h Header) (*Prefix, error) {
	positions, err := sortedPositions(nil, fps, 0)
	if err != nil {
		return nil, err
	}
	h.N, h.Chain = len(positions), digest{}
	h.Shape = h.Shape.normal(h.N)
	if err := h.check(); err != nil {
		return nil, err
	}
	plan, err := h.plan()
	if err != nil {
		return nil, err
	}
	tries := []*trie.Block{newTrie(plan, plan.parts, 0, positions)}
	for block := 1; block < len(plan.blocks); block++ {
		if positions, err = sortedPositions(positions, fps, block); err != nil {
			return nil, err
		}
		tries = append(tries, newTrie(plan, plan.parts, block, positions))
	}
	parts, err := encodeParts(plan, tries, 0, plan.parts)
	if err != nil {
		return nil, err
	}
	chain := chainOf(Run{Parts: parts})
	h.Chain = chain[0]
	return newPrefix(h, plan, parts, chain, tries), nil
}

// sortedPositions returns the sorted positions of fingerprints in a block, without duplicates: the mix is a bijection.
func sortedPositions(memory []uint64, fps []Fingerprint, block int) ([]uint64, error) {
	memory = slices.Grow(memory[:0], len(fps))
	for _, f := range fps {
		if f>>FingerprintBits != 0 {
			return nil, fmt.Errorf("summary: fingerprint %#x of more than %d bits: %w", uint64(f), FingerprintBits, ErrLimit)
		}
		memory = append(memory, position(f, block))
	}
	return slices.Compact(sortUniform(memory)), nil
}

// sortUniform sorts numbers that are spread evenly over all of 64 bits, as hashes are. The result is in new memory, or
// in xs if that has fewer than 64. It puts the numbers by their top bits into buckets of about two, and sorts each
// bucket. O(n) for hashes, O(n log n) for any numbers.
func sortUniform(xs []uint64) []uint64 {
	if len(xs) < 64 {
		slices.Sort(xs)
		return xs
	}
	shift := 64 - bits.Len(uint(len(xs)/2))
	ends := make([]uint32, 1<<(64-shift)+1) // first the size of bucket b at b+1; then its start at b, moved to its end
	for _, x := range xs {
		ends[x>>shift+1]++
	}
	sum := uint32(0)
	for b, n := range ends {
		sum += n
		ends[b] = sum
	}
	sorted := make([]uint64, len(xs))
	for _, x := range xs {
		b := x >> shift
		sorted[ends[b]] = x
		ends[b]++
	}
	begin := uint32(0)
	for _, end := range ends[:len(ends)-1] {
		sortBucket(sorted[begin:end])
		begin = end
	}
	return sorted
}

// sortBucket sorts a few numbers by insertion.
func sortBucket(xs []uint64) {
	if len(xs) > 24 {
		slices.Sort(xs)
		return
	}
	for i := 1; i < len(xs); i++ {
		x, j := xs[i], i
		for ; j > 0 && xs[j-1] > x; j-- {
			xs[j] = xs[j-1]
		}
		xs[j] = x
	}
}

// newTrie returns the state of a block after the first parts, for keys at sorted positions. It builds no array.
func newTrie(p *Plan, parts, block int, positions []uint64) *trie.Block {
	l := p.blocks[block]
	return assemble(p, parts, block, packer(l.start, func(dst []uint64, begin, end, level int) []uint64 {
		return trie.AppendLowered(dst, positions[l.cut(positions, begin):l.cut(positions, end)], 64-level)
	}))
}

// cut returns the index of the first position in the given cell or a later cell.
func (l layout) cut(positions []uint64, cell int) int {
	if cell >= 1<<l.start {
		return len(positions)
	}
	i, _ := slices.BinarySearch(positions, uint64(cell)<<(64-l.start))
	return i
}

// encodeParts encodes parts from to end-1. The tries hold all parts before end. It returns ErrMalformed at the first
// fault for which decoders would refuse a part.
func encodeParts(p *Plan, tries []*trie.Block, from, end int) ([][]byte, error) {
	e := &encoder{plan: p, from: from, parts: make([][]byte, end), workspace: newWorkspace()}
	for block, t := range tries {
		if err := e.block(block, t); err != nil {
			return nil, err
		}
	}
	workspaces.Put(e.workspace)
	for k := from; k < end; k++ {
		if size, most := len(e.parts[k]), p.maxPartBytes(k); size > most {
			return nil, fmt.Errorf("summary: part %d of %d bytes, at most %d: %w", k, size, most, ErrMalformed)
		}
	}
	return e.parts[from:], nil
}

// encoder turns tries into the parts of a plan, from part number from on.
type encoder struct {
	plan  *Plan
	from  int      // number of the first part to encode
	parts [][]byte // nil before from
	*workspace
}

// block encodes a block's parts from e.from on: the sample, then the parts of each range, from its deepest level up.
func (e *encoder) block(block int, t *trie.Block) error {
	last, sample := e.plan.last(block, len(e.parts)), e.plan.blocks[block].sample
	if s := last.sample; s != nil && s.first >= e.from {
		nodes := t.AppendNodes(nil, 0, sample, s.to)
		if err := e.check(s, 0, sample, s.to, len(nodes)); err != nil {
			return err
		}
		e.parts[s.first] = appendArray(nil, nodes, 0, sample<<(s.to-int(t.Start)))
	}
	nodes := e.take()
	for r, s := range last.ranges {
		if s != nil && s.first+r-s.lead >= e.from {
			begin, end := e.plan.cells(s, s.first+r-s.lead)
			nodes = t.AppendNodes(nodes[:0], begin, end, s.to)
			if err := e.climbRange(block, r, begin, nodes); err != nil {
				return err
			}
		}
	}
	e.give(nodes)
	return nil
}

// climbRange encodes the part of range r in every step, from part e.from on, the last step first. nodes has the range's
// nodes after the last step, from the given cell on.
func (e *encoder) climbRange(block, r, cell int, nodes []uint64) error {
	start := int(e.plan.blocks[block].start)
	e.reset(nodes)
	for i := len(e.plan.steps) - 1; i >= 0; i-- {
		s := &e.plan.steps[i]
		part := s.first + r - s.lead
		if s.block != block || s.sample || r < s.lead || part < e.from || part >= len(e.parts) {
			continue
		}
		begin, end := e.plan.cells(s, part)
		if begin > cell { // the cells before are known from the sample
			nodes := e.end()
			known, _ := slices.BinarySearch(nodes, uint64(begin)<<(s.to-start))
			e.reset(nodes[known:])
			cell = begin
		}
		if err := e.part(s, begin, end); err != nil {
			return err
		}
		e.parts[part] = e.append(nil)
	}
	return nil
}

// part writes one part of a step: it climbs from the level where the step ends to the level where it starts.
func (e *encoder) part(s *step, begin, end int) error {
	start := int(e.plan.blocks[s.block].start)
	for level := s.to; level > max(s.from, start); level-- {
		if err := e.check(s, begin, end, level, e.count); err != nil {
			return err
		}
		e.climb()
	}
	if s.from >= start {
		return nil
	}
	e.write(appendArray(nil, e.end(), uint64(begin), end-begin))
	return e.check(s, begin, end, start, e.count)
}

// check returns an error if a decoder would refuse the given number of nodes.
func (e *encoder) check(s *step, begin, end, level, nodes int) error {
	if low, high := e.plan.limits(s.block, begin, end, level); nodes < low || nodes > high {
		return fmt.Errorf("summary: block %d: %d nodes at level %d in cells %d to %d, not %d to %d: %w",
			s.block, nodes, level, begin, end-1, low, high, ErrMalformed)
	}
	return nil
}
