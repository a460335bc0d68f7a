package summary

import (
	"errors"
	"fmt"
	"slices"
)

// Stream is a built summary at full depth.
type Stream struct{ prefix *Prefix }

// Header is what is to be signed.
func (s *Stream) Header() *Header { return s.prefix.header }

// Prefix is all parts of the stream.
func (s *Stream) Prefix() *Prefix { return s.prefix }

// Build makes the summary of a collection. The header gives Seed, Origin, Epoch, Lifetime and Shape, where the zero shape
// stands for DefaultShape; N and Chain are set. Duplicates are removed; fps stays as it is. An error is ErrLimit or ErrShape
// for what the header says, or ErrDensity when the fingerprints are not spread as those of a keyed hash are: decoders would
// refuse the stream. Takes O(n log n) for sorting and O(n) for each level.
func Build(fps []Fingerprint, h Header) (*Stream, error) {
	fps = slices.Clone(fps)
	slices.Sort(fps)
	fps = slices.Compact(fps)
	if n := len(fps); n > 0 && fps[n-1]>>FingerprintBits != 0 {
		return nil, fmt.Errorf("summary: fingerprint %#x of more than %d bits: %w", fps[n-1], FingerprintBits, ErrLimit)
	}
	h.N, h.Chain = len(fps), Digest{}
	h.Shape = h.Shape.normal(h.N)
	if err := h.check(); err != nil {
		return nil, err
	}
	plan, err := h.Plan()
	if err != nil {
		return nil, err
	}
	e := &encoder{plan: plan, parts: make([][]byte, plan.parts)}
	positions := make([]uint64, len(fps))
	for block := range plan.blocks {
		for i, f := range fps {
			positions[i] = position(f, block)
		}
		slices.Sort(positions)
		e.block(block, positions)
	}
	return e.stream(&h)
}

// encoder turns sorted positions into the parts of a plan.
type encoder struct {
	plan  *Plan
	parts [][]byte
	tries []*trie
	err   error
}

// block encodes all steps of a block, from the deepest level up, so that the deep array is never built.
func (e *encoder) block(block int, positions []uint64) {
	l := e.plan.blocks[block]
	t := &trie{layout: l, ranges: make([]*set, l.ranges)}
	final := int(e.plan.shape.Levels[block])
	var steps []*step // without the sample
	for i := range e.plan.steps {
		if s := &e.plan.steps[i]; s.block == block && s.sample {
			t.sample = e.sample(s, positions)
		} else if s.block == block {
			steps = append(steps, s)
		}
	}
	nodes := make([]uint64, 0, len(positions)/l.ranges+len(positions)/8)
	for r := range l.ranges {
		begin, end := cut(positions, l, l.bound(r)), cut(positions, l, l.bound(r+1))
		nodes = nodes[:0]
		for _, x := range positions[begin:end] {
			if v := x >> (64 - final); len(nodes) == 0 || nodes[len(nodes)-1] != v {
				nodes = append(nodes, v)
			}
		}
		e.climb(t, steps, r, nodes)
	}
	e.tries = append(e.tries, t)
}

// cut is the index of the first position in a cell or a later one.
func cut(positions []uint64, l layout, cell int) int {
	if cell >= 1<<l.start {
		return len(positions)
	}
	i, _ := slices.BinarySearch(positions, uint64(cell)<<(64-l.start))
	return i
}

// sample encodes the sample.
func (e *encoder) sample(s *step, positions []uint64) *set {
	l := e.plan.blocks[s.block]
	depth := s.to - int(l.start)
	nodes := fold(slices.Clone(positions[:cut(positions, l, l.sample)]), 64-s.to)
	e.check(s, 0, l.sample, s.to, len(nodes))
	e.parts[s.first] = appendArray(nil, nodes, 0, l.sample<<depth)
	return newSet(nodes, 0, l.sample, depth)
}

// climb encodes what every step says of range r, the last step first. Nodes are those of the range at the final level.
func (e *encoder) climb(t *trie, steps []*step, r int, nodes []uint64) {
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		if r < s.lead {
			return // the sample says all of this range up to here
		}
		part := s.first + r - s.lead
		begin, end := e.plan.cells(s, part)
		first, _ := slices.BinarySearch(nodes, uint64(begin)<<(s.to-int(t.start)))
		nodes = nodes[first:]
		if i == len(steps)-1 {
			t.setRange(r, newSet(nodes, begin, end, s.to-int(t.start)))
		}
		e.parts[part], nodes = e.part(s, begin, end, nodes)
	}
}

// part encodes one part of a step and returns the nodes of the level it starts from, in the memory of nodes.
func (e *encoder) part(s *step, begin, end int, nodes []uint64) (part []byte, parents []uint64) {
	start := int(e.plan.blocks[s.block].start)
	var sections [][]byte
	for level := s.to; level > max(s.from, start); level-- {
		e.check(s, begin, end, level, len(nodes))
		var b []byte
		b, nodes = appendDescent(nil, nodes)
		sections = append(sections, b)
	}
	if s.from < start {
		e.check(s, begin, end, start, len(nodes))
		sections = append(sections, appendArray(nil, nodes, uint64(begin), end-begin))
	}
	slices.Reverse(sections)
	return slices.Concat(sections...), nodes
}

// check notes if a decoder would refuse so many nodes.
func (e *encoder) check(s *step, begin, end, level, nodes int) {
	if low, high := e.plan.limits(s.block, begin, end, level); nodes < low || nodes > high {
		e.err = errors.Join(e.err, fmt.Errorf("summary: block %d: %d nodes at level %d in cells %d to %d, not %d to %d: %w",
			s.block, nodes, level, begin, end-1, low, high, ErrDensity))
	}
}

// stream binds the parts to the header.
func (e *encoder) stream(h *Header) (*Stream, error) {
	if e.err != nil {
		return nil, e.err
	}
	for k, part := range e.parts {
		if len(part) > e.plan.MaxPartBytes(k) {
			return nil, fmt.Errorf("summary: part %d of %d bytes, at most %d: %w", k, len(part), e.plan.MaxPartBytes(k), ErrDensity)
		}
	}
	chain := chainOf(Run{Parts: e.parts})
	h.Chain = chain[0]
	p := &Prefix{header: h, plan: e.plan, parts: e.parts, chain: chain, tries: e.tries}
	p.measure()
	return &Stream{p}, nil
}
