package bitcode

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzDecodeTwo decodes two codes, one of which may be cut or changed, at once and one after the other.
func FuzzDecodeTwo(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, uint16(0), byte(0), uint16(1<<15))
		f.Add(seed, uint16(seed*7), byte(1), uint16(1<<15))
		f.Add(seed, uint16(0), byte(0), uint16(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, at uint16, flip byte, keep uint16) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var arrays [2]Array
		for i := range arrays {
			n := 1 + rng.IntN(exactMax+100)
			p := []float64{0.0005, 0.01, 0.1, 0.3, 0.5, 0.9}[rng.IntN(6)]
			words, ones := make([]uint64, wordsFor(n)), 0
			for b := range n {
				if rng.Float64() < p {
					words[b/64] |= 1 << (b % 64)
					ones++
				}
			}
			arrays[i] = Array{make([]uint64, len(words)), append(AppendBits(nil, words, n, ones), byte(seed), 7), n, ones}
		}
		if bad := &arrays[seed%2]; int(at) < len(bad.Src) {
			bad.Src[at] ^= flip
			bad.Src = bad.Src[:min(len(bad.Src), int(keep))]
		}
		var want [2]int
		var plain [2][]uint64
		var failed error
		for i, a := range arrays {
			plain[i] = make([]uint64, len(a.Words))
			var err error
			if want[i], err = DecodeBits(plain[i], a.Src, a.N, a.Ones); err != nil {
				failed = err
			}
		}
		got, err := DecodeTwo(arrays[0], arrays[1])
		if (err == nil) != (failed == nil) {
			t.Fatalf("%v, one after the other %v", err, failed)
		}
		if err == nil && (got != want || !slices.Equal(arrays[0].Words, plain[0]) || !slices.Equal(arrays[1].Words, plain[1])) {
			t.Fatalf("consumed %v, want %v, or other bits", got, want)
		}
	})
}
