package summary

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// ascent replaces sorted nodes by their parents, level by level, and writes the code of the way back down. Of each node
// it keeps the low bits for the next roundLevels levels, and the number of levels up where it and the node before it
// become siblings. There it drops the later sibling: the first one stands for the parent of both.
type ascent struct {
	nodes  []uint64 // all nodes at the last reset
	up     int      // levels climbed since the last reset
	count  int      // number of current nodes
	low    []byte   // a byte for each current node: its low bits at the reset; then padding
	meets  []byte   // levels from the reset up to where a node and the one before it are siblings; then padding of 0xff
	lower  []byte   // memory for the next low
	meeter []byte   // memory for the next meets
	flags  []uint64 // memory: a bit for each parent, set if it has both children
	sides  []byte   // memory: a bit for each parent with one child, set if that is the right child
	code   []byte   // the code written, level by level
	ends   []int    // end of each level in code
}

const (
	roundLevels = 8 // bits in a byte
	padding     = 9 // bytes behind the last node, for reads of eight bytes at once
)

// reset starts from some nodes, whose memory the ascent changes. The code written so far stays.
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

// end returns the current nodes, in the memory of a.nodes. After it the ascent must be reset to go on.
func (a *ascent) end() []uint64 { return trie.AppendLowered(a.nodes[:0], a.nodes, a.up) }

// climb replaces the nodes by their parents, and writes the number of parents with both children, a flag for each
// parent, and which child each other parent has.
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

// write appends the last bytes of a level's code, or an array that takes the place of levels, and notes the end.
func (a *ascent) write(b []byte) {
	a.code = append(a.code, b...)
	a.ends = append(a.ends, len(a.code))
}

// raise replaces the nodes by their parents, and returns the number of parents. It sets the flags of the parents with
// both children, and notes which child each other parent has. Each turn takes eight nodes, or fewer up to the next two
// siblings. No jump depends on the nodes.
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

// append appends the code written, the last level first, and starts an empty code.
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

// appendDescents appends the code that leads to nodes from their ancestors some levels above, level by level. It
// appends nothing if there are no nodes or no levels. It changes the nodes.
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
