package trie

import (
	"encoding/binary"
	"math/bits"
)

// Set holds the nodes of one level in cells Begin to End-1, in Elias and Fano's code. That is the number of nodes of
// each cell in unary, and the low Depth bits of each node, packed. It takes Depth+2 bits a node and a little.
// Immutable.
type Set struct {
	Begin, End int // cells
	Depth      int // levels below the cells
	Count      int // nodes
	unary      []uint64
	starts     []uint32 // bit in unary where every cellsPerStart-th cell begins
	low        []byte   // with eight bytes more, so that eight can be read anywhere
}

const cellsPerStart = 64

// NewSet packs the sorted, distinct nodes of cells begin to end-1, depth levels below them. O(nodes + cells).
func NewSet(nodes []uint64, begin, end, depth int) *Set {
	s := &Set{Begin: begin, End: end, Depth: depth, Count: len(nodes)}
	cells := end - begin
	s.unary = make([]uint64, (len(nodes)+cells+63)/64)
	s.starts = make([]uint32, (cells+cellsPerStart-1)/cellsPerStart)
	s.low = make([]byte, (len(nodes)*depth+7)/8+8)
	mask := uint64(1)<<depth - 1
	started := 0
	unary, at := uint64(0), 0        // the bits of a word, and which one
	low, held, to := uint64(0), 0, 0 // bits not yet stored, how many, and where to
	for i, v := range nodes {
		cell := int(v>>depth) - begin
		for ; started <= cell/cellsPerStart; started++ {
			s.starts[started] = uint32(i + started*cellsPerStart)
		}
		one := i + cell
		if one/64 != at {
			s.unary[at] = unary
			unary, at = 0, one/64
		}
		unary |= 1 << (one % 64)
		v &= mask
		low |= v << held
		if held += depth; held >= 64 {
			binary.LittleEndian.PutUint64(s.low[to:], low)
			to += 8
			held -= 64
			low = v >> (depth - held)
		}
	}
	if len(nodes) > 0 {
		s.unary[at] = unary
		binary.LittleEndian.PutUint64(s.low[to:], low)
	}
	for ; started < len(s.starts); started++ {
		s.starts[started] = uint32(len(nodes) + started*cellsPerStart)
	}
	return s
}

// SetBytes is what a set takes in memory beside its code, about.
const SetBytes = 120

// SizeBytes is about what s takes in memory.
func (s *Set) SizeBytes() int { return 8*len(s.unary) + len(s.low) + 4*len(s.starts) + SetBytes }

// lowBits are the lower bits of node i.
func (s *Set) lowBits(i int) uint64 {
	at := i * s.Depth
	return binary.LittleEndian.Uint64(s.low[at/8:]) >> (at % 8) & (1<<s.Depth - 1)
}

// Has reports whether s has the given node, or one below it. The node is lower levels above those of s, and not above
// the cells. The node's cell must be in the range. O(1).
func (s *Set) Has(node uint64, lower int) bool {
	depth := s.Depth - lower
	cell := int(node>>depth) - s.Begin
	low := node & (1<<depth - 1)
	for at := s.cellStart(cell); at/64 < len(s.unary) && s.unary[at/64]>>(at%64)&1 == 1; at++ {
		if s.lowBits(at-cell)>>lower == low {
			return true
		}
	}
	return false
}

// cellStart is the bit in unary where a cell begins: after as many zeros as there are cells before.
func (s *Set) cellStart(cell int) int {
	at := int(s.starts[cell/cellsPerStart])
	return s.skipCells(at, s.unary[at/64], cell%cellsPerStart)
}

// skipCells is the bit in unary after some zeros from a bit on, which is in the given word.
func (s *Set) skipCells(at int, word uint64, zeros int) int {
	if zeros == 0 {
		return at
	}
	i := at / 64
	w := ^word >> (at % 64) << (at % 64)
	for c := bits.OnesCount64(w); c < zeros; c = bits.OnesCount64(w) {
		zeros -= c
		i++
		w = ^s.unary[i]
	}
	return i*64 + selectBit(w, zeros-1) + 1
}

// countCells is the number of nodes in cells begin to end-1.
func (s *Set) countCells(begin, end int) int { return s.rank(end) - s.rank(begin) }

// rank is the number of nodes before a cell.
func (s *Set) rank(cell int) int {
	if cell -= s.Begin; cell < s.End-s.Begin {
		return s.cellStart(cell) - cell
	}
	return s.Count
}
