package trie

import (
	"encoding/binary"
	"math/bits"
)

// cursor unpacks the nodes of a set in order.
type cursor struct {
	s    *Set
	i    int    // index of the next node
	at   int    // index of the word of unary that has the next node's bit, or of an earlier word
	word uint64 // bits of that word that the cursor has not passed
}

// chunk is the number of nodes to unpack at a time, for the best speed.
const chunk = 256

// from returns a cursor before the first node that is in the given cell or a later one.
func (s *Set) from(cell int) cursor {
	c := cursor{s: s, i: s.rank(cell)}
	if c.i < int(s.count) {
		bit := c.i + cell - int(s.begin)
		c.at = bit / 64
		c.word = s.word(uint(c.at)) >> (bit % 64) << (bit % 64)
	}
	return c
}

// group returns the number of nodes whose low bits always lie within eight bytes, wherever they begin: at most 8.
func group(depth int) int { return min(8, 57/max(1, depth)) }

// lowFrom returns the low bits of a group of nodes that begins with node i.
func (s *Set) lowFrom(i int) uint64 {
	at := uint(i) * uint(s.depth)
	return binary.LittleEndian.Uint64(s.code[at/8:]) >> (at % 8)
}

// fill unpacks the next nodes into dst until dst is full or the set ends. It returns their number.
func (c *cursor) fill(dst []uint64) int {
	s := c.s
	dst = dst[:min(len(dst), int(s.count)-c.i)]
	w, depth := c.word, s.depth&63
	mask := uint64(1)<<depth - 1
	cell := uint64(c.at*64 - c.i + int(s.begin)) // cell of a one at bit 0 of w, less the ones before it
	for begin, most := 0, group(int(depth)); begin < len(dst); begin += most {
		low := s.lowFrom(c.i + begin)
		some := dst[begin:min(begin+most, len(dst))]
		for i := range some {
			for w == 0 {
				c.at++
				w = s.word(uint(c.at))
				cell += 64
			}
			some[i] = (cell+uint64(bits.TrailingZeros64(w)))<<depth | low&mask
			low >>= depth
			cell--
			w &= w - 1
		}
	}
	c.word = w
	c.i += len(dst)
	return len(dst)
}

// countIn passes the given number of nodes, and counts those whose bits are set in words.
func (c *cursor) countIn(words []uint64, nodes int) (both int) {
	s, most := c.s, group(int(c.s.depth))
	for end := c.i + nodes; c.i < end; {
		for c.word == 0 {
			c.at++
			c.word = s.word(uint(c.at))
		}
		word, some := c.word, bits.OnesCount64(c.word)
		if some > end-c.i {
			some = end - c.i
			word &= 1<<selectBit(word, some) - 1
		}
		both += s.countWord(words, c.i, most, word, uint64(c.at*64-c.i+int(s.begin)))
		c.word ^= word
		c.i += some
	}
	return both
}

// countWord does what countIn does, for the ones of one word of unary: nodes from index i on. cell is the cell of a
// one at bit 0, less the ones before it. The low bits of up to most nodes are read at a time.
//
//go:noinline
func (s *Set) countWord(words []uint64, i, most int, word, cell uint64) (both int) {
	depth := uint(s.depth) & 63
	mask := uint64(1)<<depth - 1
	for ; word != 0; i += most {
		low := s.lowFrom(i)
		for left := most; left > 0 && word != 0; left-- {
			v := (cell+uint64(bits.TrailingZeros64(word)))<<depth | low&mask
			word &= word - 1
			low >>= depth
			cell--
			bit := 0
			if words[v/64]&(1<<(v%64)) != 0 { // compiled to a bit test and no branch
				bit = 1
			}
			both += bit
		}
	}
	return both
}

// appendCells appends the ancestors of the nodes of cells begin to end-1, in order, each once. lower is the number of
// levels from the nodes up to these ancestors.
func (s *Set) appendCells(dst []uint64, begin, end, lower int) []uint64 {
	c := s.from(begin)
	var buffer [chunk]uint64
	last := ^uint64(0)
	for count := s.rank(end) - c.i; count > 0; {
		nodes := buffer[:c.fill(buffer[:min(chunk, count)])]
		count -= len(nodes)
		dst, last = appendLowered(dst, nodes, lower, last)
	}
	return dst
}

// AppendLowered appends the ancestors of sorted nodes, each once. lower is the number of levels up to the ancestors.
func AppendLowered(dst, nodes []uint64, lower int) []uint64 {
	dst, _ = appendLowered(dst, nodes, lower, ^uint64(0))
	return dst
}

// appendLowered does what AppendLowered does, for nodes that follow others. last is the last node appended before.
// dst may be nodes[:0].
func appendLowered(dst, nodes []uint64, lower int, last uint64) ([]uint64, uint64) {
	if lower == 0 { // the nodes of a set are distinct, and no other set has the same cells
		return append(dst, nodes...), last
	}
	for _, v := range nodes {
		if v >>= lower; v != last {
			dst = append(dst, v)
			last = v
		}
	}
	return dst, last
}
