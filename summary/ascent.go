package summary

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// ascent takes sorted nodes up, level by level, and writes how the parents become them. Of each node it keeps the low
// bits that the next roundLevels levels need, and how many levels up it becomes the sibling of the node before it. A
// node that has become one is dropped: its sibling stands for the parent of both.
type ascent struct {
	nodes  []uint64 // as they were some levels below
	up     int      // these levels
	count  int      // nodes now
	low    []byte   // of each node now, its low bits then; and padding
	meets  []byte   // levels from then after which it and the one before it are siblings; and padding of 0xff
	lower  []byte   // memory for low, a level up
	meeter []byte   // and for meets
	flags  []uint64 // memory
	sides  []byte   // likewise
	code   []byte   // what is written, level by level
	ends   []int    // of each level
}

const (
	roundLevels = 8 // bits in a byte
	padding     = 9 // bytes: eight are read behind a node
)

// reset begins with some nodes, and changes them. What is written stays.
func (a *ascent) reset(nodes []uint64) {
	a.nodes, a.up, a.count = nodes, 0, len(nodes)
	for _, b := range []*[]byte{&a.low, &a.meets, &a.lower, &a.meeter} {
		*b = slices.Grow((*b)[:0], len(nodes)+padding)[:len(nodes)+padding]
	}
	low, meets, before := a.low[:len(nodes)], a.meets[:len(nodes)], ^uint64(0)
	for i, v := range nodes {
		low[i] = byte(v)
		meets[i] = byte(bits.Len64(v^before) - 1)
		before = v
	}
	for i := range padding {
		a.meets[len(nodes)+i] = 0xff
	}
}

// end returns the nodes as they are now. To go on, the ascent is to be reset.
func (a *ascent) end() []uint64 { return trie.AppendLowered(a.nodes[:0], a.nodes, a.up) }

// climb puts the parents in the place of the nodes, and writes how they become them: how many have both children, which
// ones, and which child the others have.
func (a *ascent) climb() {
	if a.up == roundLevels {
		a.reset(a.end())
	}
	below := a.count
	a.flags = slices.Grow(a.flags[:0], below/64+1)[:below/64+1]
	a.sides = slices.Grow(a.sides[:0], below/8+8)[:below/8+8]
	clear(a.flags)
	clear(a.sides)
	a.count = a.raise()
	both := below - a.count
	a.code = bitcode.AppendBits(binary.AppendUvarint(a.code, uint64(both)), a.flags, a.count, both)
	a.write(a.sides[:(a.count-both+7)/8])
}

// write ends a level, or what takes the place of one, with some bytes.
func (a *ascent) write(b []byte) {
	a.code = append(a.code, b...)
	a.ends = append(a.ends, len(a.code))
}

// raise puts the parents in the place of the nodes, and returns the number of parents. It sets the flags of the parents
// with both children, and writes which child each other parent has. It takes eight nodes at a time, or those up to the
// next two siblings, and has no jump that depends on the nodes.
func (a *ascent) raise() (count int) {
	const ones = 0x0101010101010101
	now, single := uint64(a.up)*ones, 0
	for i := 0; i < a.count; {
		differ := binary.LittleEndian.Uint64(a.meets[i+1:]) ^ now
		meeting := (differ - ones) &^ differ & (ones << 7) // its lowest bit is that of the first node that meets
		singles, two := min(bits.TrailingZeros64(meeting)/8, a.count-i), 0
		if meeting != 0 {
			two = 1
		}
		low := binary.LittleEndian.Uint64(a.low[i:])
		side := (low >> (a.up & 7) & ones) * 0x0102040810204080 >> 56 // a bit of each byte
		side &= 1<<(singles&63) - 1
		at := a.sides[single/8:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)|side<<(single%8))
		binary.LittleEndian.PutUint64(a.lower[count:], low)
		binary.LittleEndian.PutUint64(a.meeter[count:], binary.LittleEndian.Uint64(a.meets[i:]))
		single += singles
		count += singles
		a.flags[count/64] |= uint64(two) << (count % 64)
		count += two
		i += singles + 2*two
	}
	for i := range padding {
		a.meeter[count+i] = 0xff
	}
	a.low, a.lower, a.meets, a.meeter = a.lower, a.low, a.meeter, a.meets
	a.up++
	return count
}

// append appends what is written, the last level first, and begins a new code.
func (a *ascent) append(dst []byte) []byte {
	dst = slices.Grow(dst, len(a.code))
	for i := len(a.ends) - 1; i > 0; i-- {
		dst = append(dst, a.code[a.ends[i-1]:a.ends[i]]...)
	}
	if len(a.ends) > 0 {
		dst = append(dst, a.code[:a.ends[0]]...)
	}
	a.code, a.ends = a.code[:0], a.ends[:0]
	return dst
}

// appendDescents appends how the nodes some levels above become nodes, level by level; nothing if there are none. It
// changes the nodes.
func (a *ascent) appendDescents(dst []byte, nodes []uint64, levels int) []byte {
	if len(nodes) == 0 || levels == 0 {
		return dst
	}
	a.reset(nodes)
	for range levels {
		a.climb()
	}
	return a.append(dst)
}
