package summary

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// appendArray appends the nodes, which lie among the n places from base on: their number, and the places.
func appendArray(dst []byte, nodes []uint64, base uint64, n int) []byte {
	words := make([]uint64, (n+63)/64)
	for _, v := range nodes {
		at := v - base
		words[at/64] |= 1 << (at % 64)
	}
	dst = binary.AppendUvarint(dst, uint64(len(nodes)))
	return bitcode.AppendBits(dst, words, n, len(nodes))
}

// readArray begins to read an array of appendArray: n bits with at most limit ones. The bits are to be decoded into
// memory if that is large enough.
func readArray(memory []uint64, src []byte, n, limit int) (bitcode.Array, error) {
	ones, src, err := decodeCount(src, min(n, limit))
	if err != nil {
		return bitcode.Array{}, err
	}
	words := (n + 63) / 64
	return bitcode.Array{Words: slices.Grow(memory[:0], words)[:words], Src: src, N: n, Ones: ones}, nil
}

// nodesOf returns the nodes of a decoded array, whose first bit stands for base. They are in memory if that is large
// enough; new memory has room for the levels below, as in children.
func nodesOf(memory []uint64, a bitcode.Array, base uint64, most int) []uint64 {
	nodes := memory[:0]
	if cap(nodes) <= a.Ones {
		nodes = make([]uint64, 0, max(a.Ones, min(most, 2*a.Ones))+1)
	}
	for i, w := range a.Words {
		for ; w != 0; w &= w - 1 {
			nodes = append(nodes, base+uint64(i*64+bits.TrailingZeros64(w)))
		}
	}
	return nodes
}

// descent is the code of one level while it is decoded. The flags are decoded in between, for several codes at a time.
type descent struct {
	parents []uint64
	src     []byte // the code from the flags on
	both    int    // number of parents with both children
	flags   []uint64
}

// readDescent begins to read a code of ascent.climb with at most limit children. The flags are to be decoded into
// memory if that is large enough.
func readDescent(memory []uint64, src []byte, parents []uint64, limit int) (d descent, err error) {
	d.parents = parents
	if d.both, d.src, err = decodeCount(src, min(len(parents), limit-len(parents))); err != nil {
		return d, err
	}
	n := (len(parents) + 63) / 64
	d.flags = slices.Grow(memory[:0], n)[:n]
	return d, nil
}

func (d *descent) array() bitcode.Array {
	return bitcode.Array{Words: d.flags, Src: d.src, N: len(d.parents), Ones: d.both}
}

// children returns the children, once the flags are decoded, which took used bytes. They are in memory if that is large
// enough. New memory has room for the levels below, which have up to most nodes. But it is at most twice the size
// needed now, so that it depends on the bytes received.
func (d *descent) children(memory []uint64, used, most int) (nodes []uint64, rest []byte, err error) {
	src := d.src[used:]
	single := len(d.parents) - d.both
	size := (single + 7) / 8
	if len(src) < size {
		return nil, nil, fmt.Errorf("summary: %d bytes of sides, %d nodes need more: %w", len(src), single, ErrMalformed)
	}
	if single%8 != 0 && src[single/8]>>(single%8) != 0 {
		return nil, nil, fmt.Errorf("summary: the bits that fill up the last byte are not zero: %w", ErrMalformed)
	}
	count := len(d.parents) + d.both
	if nodes = memory[:0]; cap(nodes) <= count {
		nodes = slices.Grow(nodes, max(count, min(most, 2*count))+1)
	}
	nodes = nodes[:count+1]
	if 16*d.both > len(d.parents) {
		descend(nodes, d.parents, d.flags, src[:size])
	} else {
		descendSingles(nodes, d.parents, d.flags, src[:size])
	}
	return nodes[:count], src[size:], nil
}

// descend fills in the children of parents, and one more. It has no jump that depends on the nodes: the processor would
// guess half of them wrong. It reads the flags and sides of 32 parents at a time.
func descend(nodes, parents, flags []uint64, sides []byte) {
	at, bit := 0, 0
	for i := 0; i < len(parents); i += 32 {
		two := flags[i/64] >> (i % 64)
		side := sidesFrom(sides, bit)
		some := parents[i:min(i+32, len(parents))]
		first := at
		for _, v := range some {
			both := two & 1
			two >>= 1
			children := nodes[at : at+2 : at+2]
			children[0], children[1] = 2*v+side&1&^both, 2*v+1
			side >>= 1 &^ both
			at += 1 + int(both)
		}
		bit += 2*len(some) - (at - first)
	}
}

// descendSingles is descend for few parents with both children: it takes all parents between two of these at a time.
func descendSingles(nodes, parents, flags []uint64, sides []byte) {
	at, bit := 0, 0
	for i := 0; i < len(parents); i += 32 {
		two := uint32(flags[i/64] >> (i % 64))
		side := sidesFrom(sides, bit)
		some := parents[i:min(i+32, len(parents))]
		for len(some) > 0 {
			singles := some[:min(bits.TrailingZeros32(two), len(some))]
			children := nodes[at:]
			children = children[:len(singles)]
			for k, v := range singles {
				children[k] = 2*v + side>>(k%64)&1
			}
			side >>= len(singles)
			at += len(singles)
			bit += len(singles)
			if len(singles) == len(some) {
				break
			}
			v := some[len(singles)]
			nodes[at], nodes[at+1] = 2*v, 2*v+1
			at += 2
			two >>= len(singles) + 1
			some = some[len(singles)+1:]
		}
	}
}

// sidesFrom returns at least 32 bits of sides from a bit on, zeros beyond the end.
func sidesFrom(sides []byte, bit int) uint64 {
	if bit/8+8 <= len(sides) {
		return binary.LittleEndian.Uint64(sides[bit/8:]) >> (bit % 8)
	}
	var last [8]byte
	copy(last[:], sides[min(bit/8, len(sides)):])
	return binary.LittleEndian.Uint64(last[:]) >> (bit % 8)
}
