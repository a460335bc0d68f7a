package summary

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/coding"
)

// appendArray appends the nodes, which are those of the n places from base on: how many there are, and which.
func appendArray(dst []byte, nodes []uint64, base uint64, n int) []byte {
	words := make([]uint64, (n+63)/64)
	for _, v := range nodes {
		at := v - base
		words[at/64] |= 1 << (at % 64)
	}
	dst = binary.AppendUvarint(dst, uint64(len(nodes)))
	return coding.AppendBits(dst, words, n, len(nodes))
}

// decodeArray is the inverse of appendArray. At most limit nodes.
func decodeArray(src []byte, base uint64, n, limit int) (nodes []uint64, rest []byte, err error) {
	ones, src, err := decodeCount(src, min(n, limit))
	if err != nil {
		return nil, nil, err
	}
	words := make([]uint64, (n+63)/64)
	used, err := coding.DecodeBits(words, src, n, ones)
	if err != nil {
		return nil, nil, fmt.Errorf("summary: array: %w: %w", ErrMalformed, err)
	}
	nodes = make([]uint64, 0, ones)
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			nodes = append(nodes, base+uint64(i*64+bits.TrailingZeros64(w)))
		}
	}
	return nodes, src[used:], nil
}

// appendDescent appends how the parents of nodes become nodes: how many parents have both children, which ones, and
// which child the others have. It returns the parents, in the memory of nodes.
func appendDescent(dst []byte, nodes []uint64) (out []byte, parents []uint64) {
	flags, sides := make([]uint64, (len(nodes)+63)/64), make([]uint64, len(nodes)/64+1)
	count := ascend(nodes, flags, sides)
	both := len(nodes) - count
	single := count - both
	dst = binary.AppendUvarint(dst, uint64(both))
	dst = coding.AppendBits(dst, flags, count, both)
	size := len(dst) + (single+7)/8
	for _, w := range sides[:(single+63)/64] {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst[:size], nodes[:count]
}

// ascend puts the parents of nodes in their place, says how many there are, sets the flags of those with both children,
// and writes which child the others have. Without a jump that depends on the nodes.
func ascend(nodes, flags, sides []uint64) (count int) {
	bit := 0
	for i := 0; i < len(nodes); count++ {
		v, next := nodes[i], ^uint64(0)
		if i+1 < len(nodes) {
			next = nodes[i+1]
		}
		differ := v ^ next                 // 1 if they are siblings
		_, two := bits.Sub64(differ, 2, 0) // nodes are distinct
		flags[count/64] |= two << (count % 64)
		sides[bit/64] |= (v & 1 &^ two) << (bit % 64)
		nodes[count] = v >> 1
		i += 1 + int(two)
		bit += 1 - int(two)
	}
	return count
}

// decodeDescent is the inverse of appendDescent: the children of parents, at most limit, in memory if that is enough.
func decodeDescent(memory []uint64, src []byte, parents []uint64, limit int) (nodes []uint64, rest []byte, err error) {
	both, src, err := decodeCount(src, min(len(parents), limit-len(parents)))
	if err != nil {
		return nil, nil, err
	}
	flags := make([]uint64, (len(parents)+63)/64)
	used, err := coding.DecodeBits(flags, src, len(parents), both)
	if err != nil {
		return nil, nil, fmt.Errorf("summary: flags: %w: %w", ErrMalformed, err)
	}
	src = src[used:]
	single := len(parents) - both
	if len(src) < (single+7)/8 {
		return nil, nil, fmt.Errorf("summary: %d bytes of sides, %d nodes need more: %w", len(src), single, ErrMalformed)
	}
	if single%8 != 0 && src[single/8]>>(single%8) != 0 {
		return nil, nil, fmt.Errorf("summary: sides padded with ones: %w", ErrMalformed)
	}
	sides := append(make([]byte, 0, single/8+2), src[:(single+7)/8]...)
	sides = append(sides, 0) // read when no node is left, and not used
	nodes = slices.Grow(memory[:0], len(parents)+both+1)[:len(parents)+both+1]
	descend(nodes, parents, flags, sides)
	return nodes[:len(parents)+both], src[(single+7)/8:], nil
}

// descend fills in the children of parents, and one more. Without a jump that depends on the nodes: half of the jumps
// would be foreseen wrongly.
func descend(nodes, parents, flags []uint64, sides []byte) {
	at, bit := 0, 0
	for i, v := range parents {
		two := int(flags[i/64] >> (i % 64) & 1)
		side := int(sides[bit/8]>>(bit%8)) & 1 &^ two
		children := nodes[at : at+2 : at+2]
		children[0], children[1] = 2*v+uint64(side), 2*v+1
		at += 1 + two
		bit += 1 - two
	}
}
