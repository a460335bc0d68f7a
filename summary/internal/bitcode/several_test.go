package bitcode

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzDecodeSeveral decodes some codes at once and one after the other. One may be cut or changed.
func FuzzDecodeSeveral(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, uint16(0), byte(0), uint16(1<<15))
		f.Add(seed, uint16(seed*7), byte(1), uint16(1<<15))
		f.Add(seed, uint16(0), byte(0), uint16(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, at uint16, flip byte, keep uint16) {
		rng := rand.New(rand.NewPCG(seed, 3))
		arrays := make([]Array, 1+rng.IntN(Lanes))
		ps := []float64{0.0005, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9}
		ps = ps[:1+rng.IntN(len(ps))] // all sparse, now and then
		for i := range arrays {
			n := 1 + rng.IntN(exactMax+100)
			p := ps[rng.IntN(len(ps))]
			words, ones := make([]uint64, wordsFor(n)), 0
			for b := range n {
				if rng.Float64() < p {
					words[b/64] |= 1 << (b % 64)
					ones++
				}
			}
			arrays[i] = Array{make([]uint64, len(words)), append(AppendBits(nil, words, n, ones), byte(seed), 7), n, ones}
		}
		if bad := &arrays[seed%uint64(len(arrays))]; int(at) < len(bad.Src) {
			bad.Src[at] ^= flip
			bad.Src = bad.Src[:min(len(bad.Src), int(keep))]
		}
		var want [Lanes]int
		var plain [Lanes][]uint64
		var failed error
		for i, a := range arrays {
			plain[i] = make([]uint64, len(a.Words))
			var err error
			if want[i], err = DecodeBits(plain[i], a.Src, a.N, a.Ones); err != nil {
				failed = err
			}
		}
		got, err := DecodeSeveral(arrays)
		if (err == nil) != (failed == nil) {
			t.Fatalf("%v, one after the other %v", err, failed)
		}
		for i, a := range arrays {
			if err == nil && (got != want || !slices.Equal(a.Words, plain[i])) {
				t.Fatalf("consumed %v, want %v, or other bits of array %d", got, want, i)
			}
		}
	})
}
