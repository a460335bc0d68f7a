package bitcode

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOnlyExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 64, 1000, 100_000} {
		for _, p := range []float64{0, 0.01, 0.3, 0.5, 0.9, 1} {
			words := make([]uint64, wordsFor(n))
			ones := 0
			for i := range n {
				if r.Float64() < p {
					words[i/64] |= 1 << (i % 64)
					ones++
				}
			}
			code := AppendExact(nil, words, n, ones)
			got := make([]uint64, len(words))
			size, err := DecodeExact(got, append(code, 1, 2, 3), n, ones)
			if err != nil || size != len(code) || !slices.Equal(got, words) {
				t.Errorf("%d of %d: %d of %d bytes, %v", ones, n, size, len(code), err)
			}
		}
	}
	if _, err := DecodeExact(nil, nil, 3, 4); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}
