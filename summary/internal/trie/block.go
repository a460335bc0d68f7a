package trie

import "slices"

// Block is the known part of a block: pieces of sets, in the order of hash space, without overlap. Nothing is known
// outside of the pieces. Copies made by Clone share the sets.
type Block struct {
	Start  uint8 // level of the cells
	pieces []Piece
}

// Piece is a range of a set's cells: Begin to End-1.
type Piece struct {
	Set        *Set
	Begin, End int
}

// Position returns x_i(f): the position in the hash space of block i of a key with fingerprint f. Its top l bits are
// the key's node at level l. It is Stafford's thirteenth mix of f plus a multiple of the golden ratio, so positions
// in different blocks are independent.
func Position(f uint64, block int) uint64 {
	z := f + uint64(block+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Count returns the number of nodes in the piece.
func (p Piece) Count() int { return p.Set.countCells(p.Begin, p.End) }

// Region is a range of cells of a block that is known at a level.
type Region struct {
	Begin, End int
	Level      int
}

// Span is a range of nodes of a level: Begin to End-1.
type Span struct{ Begin, End uint64 }

// Nodes returns the range of nodes that r may have, in a block whose cells are the nodes of level start.
func (r Region) Nodes(start uint8) Span {
	depth := r.Level - int(start)
	return Span{uint64(r.Begin) << depth, uint64(r.End) << depth}
}

// Pieces returns all pieces, in order. The caller must not change them.
func (b *Block) Pieces() []Piece { return b.pieces }

// Regions returns the cells and the level of each piece.
func (b *Block) Regions() []Region {
	out := make([]Region, len(b.pieces))
	for i, p := range b.pieces {
		out[i] = Region{p.Begin, p.End, b.level(p.Set)}
	}
	return out
}

// level returns the level of the nodes of a set.
func (b *Block) level(s *Set) int { return int(b.Start) + s.Depth() }

// Clone copies b, but not its sets.
func (b *Block) Clone() *Block { return &Block{b.Start, slices.Clone(b.pieces)} }

// Put puts a set into the block. It replaces the pieces, or the parts of pieces, in the set's cells.
func (b *Block) Put(s *Set) {
	var out []Piece
	placed := false
	for _, p := range b.pieces {
		if p.End <= s.Begin() {
			out = append(out, p)
			continue
		}
		if p.Begin < s.Begin() {
			out = append(out, Piece{p.Set, p.Begin, s.Begin()})
		}
		if !placed {
			out, placed = append(out, Piece{s, s.Begin(), s.End()}), true
		}
		if p.End > s.End() {
			out = append(out, Piece{p.Set, max(p.Begin, s.End()), p.End})
		}
	}
	if !placed {
		out = append(out, Piece{s, s.Begin(), s.End()})
	}
	b.pieces = out
}

// PutBeneath puts in those parts of a set whose cells are not known yet.
func (b *Block) PutBeneath(s *Set) {
	var out []Piece
	at := s.Begin()
	for _, p := range b.pieces {
		if end := min(p.Begin, s.End()); at < end {
			out = append(out, Piece{s, at, end})
		}
		out = append(out, p)
		at = max(at, p.End)
	}
	if at < s.End() {
		out = append(out, Piece{s, at, s.End()})
	}
	b.pieces = out
}

// Covers reports whether all cells from begin to end-1 are known.
func (b *Block) Covers(begin, end int) bool {
	for _, p := range b.pieces {
		if p.Begin <= begin && begin < p.End {
			begin = p.End
		}
	}
	return begin >= end
}

// Shared returns the set that has exactly the cells begin to end-1 and nodes of the given level; nil if there is
// none.
func (b *Block) Shared(begin, end, level int) *Set {
	for _, p := range b.pieces {
		if s := p.Set; s.Begin() == begin && s.End() == end && b.level(s) == level {
			return s
		}
	}
	return nil
}

// Whole returns the set that knows all cells; nil if there is none.
func (b *Block) Whole() *Set {
	if len(b.pieces) == 1 && b.pieces[0].Begin == 0 && b.pieces[0].End == 1<<b.Start && b.pieces[0].Set.Begin() == 0 {
		return b.pieces[0].Set
	}
	return nil
}

// find returns the set that knows a cell, nil if none does. Most pieces are of one size, so the first guess is mostly
// right, or wrong by one.
func (b *Block) find(cell int) *Set {
	last := len(b.pieces) - 1
	if last < 0 {
		return nil
	}
	i := int(uint64(cell) * uint64(last+1) >> b.Start)
	for i > 0 && b.pieces[i].Begin > cell {
		i--
	}
	for i < last && b.pieces[i].End <= cell {
		i++
	}
	if p := &b.pieces[i]; p.Begin <= cell && cell < p.End {
		return p.Set
	}
	return nil
}

// Contains reports whether the block may have a key at position x. O(1).
func (b *Block) Contains(x uint64) bool {
	s := b.find(int(x >> (64 - b.Start)))
	return s == nil || s.Has(x>>(64-b.level(s)), 0)
}

// FalsePositiveRate returns the fraction of hash space that the block does not rule out. O(pieces).
func (b *Block) FalsePositiveRate() float64 {
	cells := float64(int(1) << b.Start)
	unknown := cells
	hit := 0.0
	for _, p := range b.pieces {
		unknown -= float64(p.End - p.Begin)
		hit += float64(p.Count()) / float64(uint64(1)<<p.Set.Depth())
	}
	return (unknown + hit) / cells
}

// AppendNodes appends to dst the nodes of cells begin to end-1 at a level. What is known there must be at least as
// deep.
func (b *Block) AppendNodes(dst []uint64, begin, end, level int) []uint64 {
	dst = slices.Grow(dst, b.count(begin, end))
	for _, p := range b.pieces {
		if from, to := max(p.Begin, begin), min(p.End, end); from < to {
			dst = p.Set.appendCells(dst, from, to, b.level(p.Set)-level)
		}
	}
	return dst
}

// count returns the number of nodes known in cells begin to end-1. A level above them has at most as many.
func (b *Block) count(begin, end int) int {
	n := 0
	for _, p := range b.pieces {
		if from, to := max(p.Begin, begin), min(p.End, end); from < to {
			n += p.Set.countCells(from, to)
		}
	}
	return n
}

// SizeBytes returns the approximate number of bytes that b and its sets take in memory. A set cut into several pieces
// counts once.
func (b *Block) SizeBytes() int {
	size := 32
	for i, p := range b.pieces {
		size += 24
		cut := p.Begin > p.Set.Begin() || p.End < p.Set.End()
		if !cut || !slices.ContainsFunc(b.pieces[:i], func(o Piece) bool { return o.Set == p.Set }) {
			size += p.Set.SizeBytes()
		}
	}
	return size
}
