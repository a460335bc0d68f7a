package summary

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// appendArray appends the code of nodes among the n places from base on: their number, then the array of n bits.
func appendArray(dst []byte, nodes []uint64, base uint64, n int) []byte {
	words := make([]uint64, (n+63)/64)
	for _, v := range nodes {
		at := v - base
		words[at/64] |= 1 << (at % 64)
	}
	dst = binary.AppendUvarint(dst, uint64(len(nodes)))
	return bitcode.AppendBits(dst, words, n, len(nodes))
}

// readArray begins to read an array of n bits with at most limit ones: that of appendArray, or the flags of
// ascent.climb. The bits are to be decoded into memory if that is large enough.
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

// children returns the children of parents. The decoded flags mark the parents with both children; src begins after
// them. The children are in memory if that is large enough. New memory has room for the levels below, which have up to
// most nodes. But it is at most twice the size needed now, so that it depends on the bytes received.
func children(memory, parents []uint64, flags bitcode.Array, src []byte, most int) (nodes []uint64, rest []byte, err error) {
	single := len(parents) - flags.Ones
	size := (single + 7) / 8
	if len(src) < size {
		return nil, nil, fmt.Errorf("summary: %d bytes of sides, %d nodes need more: %w", len(src), single, ErrMalformed)
	}
	if single%8 != 0 && src[single/8]>>(single%8) != 0 {
		return nil, nil, fmt.Errorf("summary: the bits that fill up the last byte are not zero: %w", ErrMalformed)
	}
	count := len(parents) + flags.Ones
	if nodes = memory[:0]; cap(nodes) <= count {
		nodes = slices.Grow(nodes, max(count, min(most, 2*count))+1)
	}
	nodes = nodes[:count+1]
	if 16*flags.Ones > len(parents) {
		descend(nodes, parents, flags.Words, src[:size])
	} else {
		descendSingles(nodes, parents, flags.Words, src[:size])
	}
	return nodes[:count], src[size:], nil
}

// descend fills in the children of parents, and may overwrite one more place. No jump depends on the nodes: the
// processor would guess half of the jumps wrong. It reads the flags and sides of 32 parents at a time.
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

// descendSingles does the work of descend if few parents have both children: it takes each run of the others at once.
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
