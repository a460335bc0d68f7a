package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/bits-and-blooms/bitset"

	"github.com/venn-p2p/venn/summary/bloom"
)

// mergeArea compares counting the ones in the AND of two filters, from which an overlap is estimated.
func mergeArea(b *bench) {
	for _, kib := range []int{16, 1024} {
		name := fmt.Sprintf("AND-merge count, %d KiB, bits-and-blooms/bitset", kib)
		p := bloom.Params{Blocks: 1, BlockBits: uint64(kib) << 13, Hashes: 1}
		x, y := halfFull(1, p), halfFull(2, p)
		u, v := bitset.From(wordsOf(x)), bitset.From(wordsOf(y))
		if got, want := uint(must(x.AndOnesCount(y))), u.IntersectionCardinality(v); got != want {
			panic(fmt.Sprintf("AND counts differ: %d, %d", got, want))
		}
		const times = 100
		b.compare(name, "ns/KiB", float64(times*kib), 1.1, timed(func() {
			for range times {
				sink += must(x.AndOnesCount(y))
			}
		}), timed(func() {
			for range times {
				sink += int(u.IntersectionCardinality(v))
			}
		}))
	}
}

func halfFull(seed uint64, p bloom.Params) *bloom.Filter {
	f := must(bloom.New(p))
	rng := rand.New(rand.NewPCG(seed, seed))
	for range p.Bits() * 7 / 10 { // about m·ln 2 keys fill half of the m bits
		f.AddHash(bloom.Hash64(rng.Uint64()))
	}
	return f
}

// wordsOf returns the bits of a filter, from its binary form. Their number must be a multiple of 64.
func wordsOf(f *bloom.Filter) []uint64 {
	b := must(f.MarshalBinary())
	words := make([]uint64, f.Params().Bits()/64)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[len(b)-4-8*len(words)+8*i:])
	}
	return words
}
