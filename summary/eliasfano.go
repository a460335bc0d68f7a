package summary

import (
	"encoding/binary"
	"math/bits"
)

// set holds the nodes of a block at one level in a range of cells, in Elias and Fano's code: the number of nodes of each
// cell in unary, and the low depth bits of each node, packed. It takes depth+2 bits a node and a little.
// Immutable.
type set struct {
	begin, end int // cells
	depth      int // levels below the cells
	count      int // nodes
	unary      []uint64
	starts     []uint32 // bit in unary where every cellsPerStart-th cell begins
	low        []byte   // with eight bytes more, so that eight can be read anywhere
}

const cellsPerStart = 64

// newSet packs the sorted, distinct nodes of cells begin to end-1, depth levels below them.
func newSet(nodes []uint64, begin, end, depth int) *set {
	s := &set{begin: begin, end: end, depth: depth, count: len(nodes)}
	cells := end - begin
	s.unary = make([]uint64, (len(nodes)+cells+63)/64)
	s.starts = make([]uint32, (cells+cellsPerStart-1)/cellsPerStart)
	s.low = make([]byte, (len(nodes)*depth+7)/8+8)
	mask := uint64(1)<<depth - 1
	started := 0
	for i, v := range nodes {
		cell := int(v>>depth) - begin
		for ; started <= cell/cellsPerStart; started++ {
			s.starts[started] = uint32(i + started*cellsPerStart)
		}
		at := i + cell
		s.unary[at/64] |= 1 << (at % 64)
		at = i * depth
		word := s.low[at/8:][:8]
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|v&mask<<(at%8))
	}
	for ; started < len(s.starts); started++ {
		s.starts[started] = uint32(len(nodes) + started*cellsPerStart)
	}
	return s
}

// level is the level of the nodes of s in a block that starts at a level.
func (s *set) level(start uint8) int { return int(start) + s.depth }

// bytes is about what s takes in memory.
func (s *set) bytes() int { return 8*len(s.unary) + len(s.low) + 4*len(s.starts) + 120 }

// lowBits are the lower bits of node i.
func (s *set) lowBits(i int) uint64 {
	at := i * s.depth
	return binary.LittleEndian.Uint64(s.low[at/8:]) >> (at % 8) & (1<<s.depth - 1)
}

// contains reports whether a node is in s. Its cell must be in the range.
func (s *set) contains(node uint64) bool {
	cell := int(node>>s.depth) - s.begin
	return s.containsFrom(s.cellStart(cell), cell, node)
}

// containsFrom is contains where it is known at which bit in unary the node's cell begins.
func (s *set) containsFrom(at, cell int, node uint64) bool {
	low := node & (1<<s.depth - 1)
	for ; at/64 < len(s.unary) && s.unary[at/64]>>(at%64)&1 == 1; at++ {
		if s.lowBits(at-cell) == low {
			return true
		}
	}
	return false
}

// cellStart is the bit in unary where a cell begins: after as many zeros as there are cells before.
func (s *set) cellStart(cell int) int {
	at := int(s.starts[cell/cellsPerStart])
	return s.skipCells(at, s.unary[at/64], cell%cellsPerStart)
}

// skipCells is the bit in unary after some zeros from a bit on, which is in the given word.
func (s *set) skipCells(at int, word uint64, zeros int) int {
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

// selectBit is the place of the k-th one of w, counted from 0. There is one. It has no branch that depends on w: the
// sums of ones up to each byte say in which byte it is, and a table where in that.
func selectBit(w uint64, k int) int {
	const lows, highs = 0x0101010101010101, 0x8080808080808080
	sums := w - w>>1&0x5555555555555555
	sums = sums&0x3333333333333333 + sums>>2&0x3333333333333333
	sums = (sums + sums>>4) & 0x0f0f0f0f0f0f0f0f * lows
	before := 8 * bits.OnesCount64(((uint64(k)*lows|highs)-sums)&highs)
	rank := uint64(k) - sums<<8>>before&0xff
	return before + int(bitInByte[rank%8][w>>before&0xff])
}

// bitInByte[k][b] is the place of the k-th one of b, counted from 0.
var bitInByte = func() (table [8][256]uint8) {
	for b := range 256 {
		for rest, k := uint(b), 0; rest != 0; rest &= rest - 1 {
			table[k][b] = uint8(bits.TrailingZeros(rest))
			k++
		}
	}
	return table
}()

// appendCells appends the nodes of cells begin to end-1 in order, lowered by some levels.
func (s *set) appendCells(dst []uint64, begin, end, lower int) []uint64 {
	it := s.from(begin)
	var buffer [chunk]uint64
	last := ^uint64(0)
	for count := s.rank(end) - it.i; count > 0; {
		nodes := buffer[:it.fill(buffer[:min(chunk, count)])]
		count -= len(nodes)
		if lower == 0 {
			dst = append(dst, nodes...)
			continue
		}
		for _, v := range nodes {
			if v >>= lower; v != last {
				dst = append(dst, v)
				last = v
			}
		}
	}
	return dst
}

// countCells is the number of nodes in cells begin to end-1.
func (s *set) countCells(begin, end int) int { return s.rank(end) - s.rank(begin) }

// rank is the number of nodes before a cell.
func (s *set) rank(cell int) int {
	if cell -= s.begin; cell < s.end-s.begin {
		return s.cellStart(cell) - cell
	}
	return s.count
}

// from walks through the nodes of s in order, from a cell on.
func (s *set) from(cell int) setIterator {
	it := setIterator{s: s, i: s.rank(cell)}
	if it.i < s.count {
		bit := it.i + cell - s.begin
		it.at = bit / 64
		it.word = s.unary[it.at] >> (bit % 64) << (bit % 64)
	}
	return it
}

// setIterator walks through a set.
type setIterator struct {
	s    *set
	i    int    // number of the next node
	at   int    // word of unary that its bit is in, or an earlier one
	word uint64 // bits of that word not yet passed
}

// chunk is how many nodes are best unpacked at a time.
const chunk = 256

// fill unpacks as many nodes as fit in dst, and returns their number.
func (it *setIterator) fill(dst []uint64) int {
	s := it.s
	dst = dst[:min(len(dst), s.count-it.i)]
	word, mask := it.word, uint64(1)<<s.depth-1
	at := it.i * s.depth
	for i := range dst {
		for word == 0 {
			it.at++
			word = s.unary[it.at]
		}
		cell := it.at*64 + bits.TrailingZeros64(word) - it.i + s.begin
		word &= word - 1
		dst[i] = uint64(cell)<<s.depth | binary.LittleEndian.Uint64(s.low[at/8:])>>(at%8)&mask
		at += s.depth
		it.i++
	}
	it.word = word
	return len(dst)
}

// has reports whether s has a node below the given one, which is lower levels above those of s, and not above its
// cells.
func (s *set) has(node uint64, lower int) bool {
	depth := s.depth - lower
	cell := int(node>>depth) - s.begin
	low := node & (1<<depth - 1)
	for at := s.cellStart(cell); at/64 < len(s.unary) && s.unary[at/64]>>(at%64)&1 == 1; at++ {
		if s.lowBits(at-cell)>>lower == low {
			return true
		}
	}
	return false
}

// countIn passes the next nodes and counts those that are set in words.
func (it *setIterator) countIn(words []uint64, nodes int) (both int) {
	s := it.s
	word, mask := it.word, uint64(1)<<s.depth-1
	low, depth := s.low, s.depth
	at, end := it.i*depth, (it.i+nodes)*depth
	cell := uint64(it.at*64 - it.i + s.begin) // of a one at bit 0 of word, less the ones before it
	for ; at < end; at += depth {
		for word == 0 {
			it.at++
			word = s.unary[it.at]
			cell += 64
		}
		v := (cell+uint64(bits.TrailingZeros64(word)))<<depth | binary.LittleEndian.Uint64(low[at/8:])>>(at%8)&mask
		cell--
		word &= word - 1
		both += int(words[v/64] >> (v % 64) & 1)
	}
	it.word = word
	it.i += nodes
	return both
}
