package experiment

import (
	"math/rand/v2"

	"github.com/venn-p2p/venn/summary/bloom"
)

// must returns v; it panics on an error, which parameters fixed in this package cannot cause.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func randomHash(rng *rand.Rand) bloom.Hash { return bloom.Hash{A: rng.Uint64(), B: rng.Uint64()} }

// randomFilter returns a filter with n random keys.
func randomFilter(rng *rand.Rand, p bloom.Params, n int) *bloom.Filter {
	f := must(bloom.New(p))
	for range n {
		f.AddHash(randomHash(rng))
	}
	return f
}

func standard(m, k int) bloom.Params {
	return bloom.Params{Blocks: 1, BlockBits: uint64(m), Hashes: k}
}

// falsePositives returns the part of random keys that are taken for members.
func falsePositives(rng *rand.Rand, contains func(bloom.Hash) bool, probes int) float64 {
	hits := 0
	for range probes {
		if contains(randomHash(rng)) {
			hits++
		}
	}
	return float64(hits) / float64(probes)
}
