package trie

import (
	"encoding/binary"
	"math/bits"
)

// cursor unpacks the nodes of a set in order.
type cursor struct {
	s    *Set
	i    int    // number of the next node
	at   int    // word of unary that its bit is in, or an earlier one
	word uint64 // bits of that word not yet passed
}

// chunk is how many nodes are best unpacked at a time.
const chunk = 256

// from is a cursor before the first node of a cell or a later one.
func (s *Set) from(cell int) cursor {
	c := cursor{s: s, i: s.rank(cell)}
	if c.i < s.Count {
		bit := c.i + cell - s.Begin
		c.at = bit / 64
		c.word = s.unary[c.at] >> (bit % 64) << (bit % 64)
	}
	return c
}

// fill unpacks as many nodes as fit in dst, and returns their number.
func (c *cursor) fill(dst []uint64) int {
	s := c.s
	dst = dst[:min(len(dst), s.Count-c.i)]
	word, mask := c.word, uint64(1)<<s.Depth-1
	at := c.i * s.Depth
	for i := range dst {
		for word == 0 {
			c.at++
			word = s.unary[c.at]
		}
		cell := c.at*64 + bits.TrailingZeros64(word) - c.i + s.Begin
		word &= word - 1
		dst[i] = uint64(cell)<<s.Depth | binary.LittleEndian.Uint64(s.low[at/8:])>>(at%8)&mask
		at += s.Depth
		c.i++
	}
	c.word = word
	return len(dst)
}

// countIn passes the next nodes and counts those that are set in words.
func (c *cursor) countIn(words []uint64, nodes int) (both int) {
	s := c.s
	word, mask := c.word, uint64(1)<<s.Depth-1
	low, depth := s.low, s.Depth
	at, end := c.i*depth, (c.i+nodes)*depth
	cell := uint64(c.at*64 - c.i + s.Begin) // of a one at bit 0 of word, less the ones before it
	for ; at < end; at += depth {
		for word == 0 {
			c.at++
			word = s.unary[c.at]
			cell += 64
		}
		v := (cell+uint64(bits.TrailingZeros64(word)))<<depth | binary.LittleEndian.Uint64(low[at/8:])>>(at%8)&mask
		cell--
		word &= word - 1
		both += int(words[v/64] >> (v % 64) & 1)
	}
	c.word = word
	c.i += nodes
	return both
}

// appendCells appends the nodes of cells begin to end-1 in order, lowered by some levels.
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

// AppendLowered appends the nodes that some sorted ones lie below, lower levels above them, each once.
func AppendLowered(dst, nodes []uint64, lower int) []uint64 {
	dst, _ = appendLowered(dst, nodes, lower, ^uint64(0))
	return dst
}

// appendLowered is AppendLowered for nodes that follow others: last is the last one appended. Dst may be nodes[:0].
func appendLowered(dst, nodes []uint64, lower int, last uint64) ([]uint64, uint64) {
	if lower == 0 { // those of a set are distinct, and its cells no other's
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
