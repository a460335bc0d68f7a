package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/bits-and-blooms/bitset"

	"github.com/venn-p2p/venn/summary/bloom"
)

// mergeArea: the number of ones of the AND of two filters, from which an overlap is estimated.
func mergeArea(b *bench) {
	for i, kib := range []int{16, 1024} {
		name, target := fmt.Sprintf("AND-merge count, %d KiB, bits-and-blooms/bitset", kib), mergeTargets[i]
		p := bloom.Params{Blocks: 1, BlockBits: uint64(kib) << 13, Hashes: 1}
		x, y := halfFull(1, p), halfFull(2, p)
		u, v := bitset.From(x.AppendWords(nil)), bitset.From(y.AppendWords(nil))
		if got, want := uint(must(x.AndOnesCount(y))), u.IntersectionCardinality(v); got != want {
			panic(fmt.Sprintf("AND counts differ: %d, %d", got, want))
		}
		const times = 100
		b.compare(name+mergeBuild, "ns/KiB", float64(times*kib), target, timed(func() {
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
	words := f.AppendWords(nil)
	for i := range words {
		words[i] = rng.Uint64()
	}
	return f
}
