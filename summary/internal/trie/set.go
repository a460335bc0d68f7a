package trie

import (
	"encoding/binary"
	"math/bits"
)

// Set holds the nodes of one level in a range of cells, in Elias and Fano's code. The number of nodes in each cell is
// in unary, and the low bits of each node are packed. It takes little more than Depth+2 bits a node. It is immutable.
type Set struct {
	// First the low bits of all nodes, then the starts, then the words of unary, the last word first. A start is the
	// bit in unary where a group of cellsPerStart cells begins, in four bytes. The first group has none, and the last
	// start comes first. Numbers have the lowest byte first. From any byte of the low bits, eight bytes can be read.
	code       []byte
	begin, end int32 // cells
	depth      int32
	count      int32
}

const (
	cellsPerStart = 64
	startBytes    = 4
	wordBytes     = 8
)

// Begin returns the first cell.
func (s *Set) Begin() int { return int(s.begin) }

// End returns the cell after the last one of s.
func (s *Set) End() int { return int(s.end) }

// Depth returns the number of levels from the cells down to the nodes.
func (s *Set) Depth() int { return int(s.depth) }

// Count returns the number of nodes.
func (s *Set) Count() int { return int(s.count) }

// NewSet packs the sorted, distinct nodes of cells begin to end-1. The nodes are depth levels below the cells.
// O(nodes + cells).
func NewSet(nodes []uint64, begin, end, depth int) *Set {
	cells := end - begin
	lowBytes, words, groups := (len(nodes)*depth+7)/8, (len(nodes)+cells+63)/64, (cells+cellsPerStart-1)/cellsPerStart
	s := &Set{
		code:  make([]byte, lowBytes+startBytes*(groups-1)+wordBytes*words),
		begin: int32(begin), end: int32(end), depth: int32(depth), count: int32(len(nodes)),
	}
	starts, mask := s.starts(), uint64(1)<<depth-1
	started := 1
	unary, at := uint64(0), 0        // the bits of a word of unary, and its index
	low, held, to := uint64(0), 0, 0 // low bits not yet stored, their number, and the byte to store them at
	for i, v := range nodes {
		cell := int(v>>depth) - begin
		for ; started <= cell/cellsPerStart; started++ {
			binary.LittleEndian.PutUint32(s.code[int(starts)-startBytes*started:], uint32(i+started*cellsPerStart))
		}
		one := i + cell
		if one/64 != at {
			s.setWord(at, unary)
			unary, at = 0, one/64
		}
		unary |= 1 << (one % 64)
		v &= mask
		low |= v << held
		if held += depth; held >= 64 {
			binary.LittleEndian.PutUint64(s.code[to:], low)
			to += 8
			held -= 64
			low = v >> (depth - held)
		}
	}
	for ; held > 0; held -= 8 { // byte by byte, so as not to overwrite the starts behind the low bits
		s.code[to] = byte(low)
		low >>= 8
		to++
	}
	if len(nodes) > 0 {
		s.setWord(at, unary)
	}
	for ; started < groups; started++ {
		binary.LittleEndian.PutUint32(s.code[int(starts)-startBytes*started:], uint32(len(nodes)+started*cellsPerStart))
	}
	return s
}

// SizeBytes returns the approximate number of bytes that s takes in memory.
func (s *Set) SizeBytes() int { return len(s.code) + 48 }

// word returns word i of unary.
func (s *Set) word(i uint) uint64 {
	return binary.LittleEndian.Uint64(s.code[uint(len(s.code))-wordBytes*i-wordBytes:])
}

func (s *Set) setWord(i int, w uint64) {
	binary.LittleEndian.PutUint64(s.code[len(s.code)-wordBytes*i-wordBytes:], w)
}

// one reports whether a bit of unary is one.
func (s *Set) one(at uint) bool { return s.word(at/64)>>(at%64)&1 == 1 }

// starts returns the offset in the code where the starts end and unary begins.
func (s *Set) starts() uint {
	return uint(len(s.code)) - wordBytes*uint((uint32(s.count)+uint32(s.end-s.begin)+63)/64)
}

// groupStart returns the bit in unary where the group of a cell begins. It has no branch that depends on the cell:
// for the first group it reads the first bytes of unary, and ignores them.
func (s *Set) groupStart(cell uint) uint {
	group := cell / cellsPerStart
	at := binary.LittleEndian.Uint32(s.code[s.starts()-startBytes*group:])
	if group == 0 {
		at = 0
	}
	return uint(at)
}

// lowBits returns the low bits of node i.
func (s *Set) lowBits(i uint) uint64 {
	at := i * uint(s.depth)
	return binary.LittleEndian.Uint64(s.code[at/8:]) >> (at % 8) & (1<<(s.depth&63) - 1)
}

// Has reports whether s has the given node, or a node below it. lower is the number of levels that the node lies above
// the nodes of s; it must not lie above the cells. Its cell must be in the range of s. O(1).
func (s *Set) Has(node uint64, lower int) bool {
	depth := (uint(s.depth) - uint(lower)) & 63
	cell := uint(node>>depth) - uint(s.begin)
	low := node & (1<<depth - 1)
	for at := s.cellStart(cell); s.one(at); at++ {
		if s.lowBits(at-cell)>>(uint(lower)&63) == low {
			return true
		}
	}
	return false
}

// cellStart returns the bit in unary where a cell begins: the bit after as many zeros as there are cells before it.
func (s *Set) cellStart(cell uint) uint {
	at := s.groupStart(cell)
	return s.skipCells(at, s.word(at/64), cell%cellsPerStart)
}

// skipCells returns the bit in unary after the given number of zeros, counted from bit at on. first is the word with
// bit at.
func (s *Set) skipCells(at uint, first uint64, zeros uint) uint {
	if zeros == 0 {
		return at
	}
	i := at / 64
	w := ^first >> (at % 64) << (at % 64)
	for c := uint(bits.OnesCount64(w)); c < zeros; c = uint(bits.OnesCount64(w)) {
		zeros -= c
		i++
		w = ^s.word(i)
	}
	return i*64 + uint(selectBit(w, int(zeros)-1)) + 1
}

// countCells returns the number of nodes in cells begin to end-1.
func (s *Set) countCells(begin, end int) int { return s.rank(end) - s.rank(begin) }

// rank returns the number of nodes before a cell.
func (s *Set) rank(cell int) int {
	if cell -= int(s.begin); cell < int(s.end-s.begin) {
		return int(s.cellStart(uint(cell))) - cell
	}
	return int(s.count)
}
