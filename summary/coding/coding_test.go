package coding

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomBits is an array of n bits, ones of them set at random; deterministic.
func randomBits(n, ones int) []uint64 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(ones)))
	words := make([]uint64, wordsFor(n))
	perm := ones
	if ones > n/2 {
		perm = n - ones
	}
	for perm > 0 {
		i := r.IntN(n)
		if words[i/64]>>(i%64)&1 == 0 {
			words[i/64] |= 1 << (i % 64)
			perm--
		}
	}
	if ones > n/2 {
		for i := range words {
			words[i] = ^words[i]
		}
		if n%64 != 0 {
			words[len(words)-1] &= 1<<(n%64) - 1
		}
	}
	return words
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 8, 63, 64, 65, 100, 1000, 4096, 5000, 20000, 100003} {
		for _, ones := range []int{0, 1, 2, 3, n / 100, n / 50, n / 20, n / 10, n / 4, n / 3, n * 48 / 100, n / 2, n * 3 / 4, n * 9 / 10, n * 99 / 100, n - 2, n - 1, n} {
			if ones < 0 || ones > n {
				continue
			}
			words := randomBits(n, ones)
			code := AppendBits([]byte("head"), words, n, ones)
			if string(code[:4]) != "head" {
				t.Fatalf("n=%d ones=%d: AppendBits changed what was there", n, ones)
			}
			code = code[4:]
			if got, limit := len(code), MaxBytes(n, ones); got > limit {
				t.Errorf("n=%d ones=%d: %d bytes, MaxBytes %d", n, ones, got, limit)
			}
			got := make([]uint64, len(words))
			for _, tail := range []string{"", "\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
				consumed, err := DecodeBits(got, append(slices.Clip(code), tail...), n, ones)
				if err != nil || consumed != len(code) || !slices.Equal(got, words) {
					t.Fatalf("n=%d ones=%d tail %q: consumed %d of %d, %v", n, ones, tail, consumed, len(code), err)
				}
			}
			if len(code) > 0 {
				if _, err := DecodeBits(got, code[:len(code)-1], n, ones); err == nil {
					t.Errorf("n=%d ones=%d: accepted a code cut short", n, ones)
				}
			}
		}
	}
}
