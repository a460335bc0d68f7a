package bitcode

import (
	"slices"
	"testing"
)

// checkCode encodes bits, holds the code to its bounds, and decodes it. It decodes the exact code, too. TestGolden holds
// the bytes.
func checkCode(t *testing.T, words []uint64, n int) {
	t.Helper()
	words = slices.Clone(words)
	ones := count(words, n)
	code := AppendBits(nil, words, n, ones)
	if most := choose(n, ones).most; len(code) > most {
		t.Fatalf("n=%d ones=%d: %d bytes, at most %d wanted", n, ones, len(code), most)
	}
	if least := minBytes(n, ones); len(code) < least {
		t.Fatalf("n=%d ones=%d: %d bytes, minBytes %d", n, ones, len(code), least)
	}
	got := make([]uint64, len(words))
	for _, tail := range []string{"", "\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		for i := range got {
			got[i] = 0xdead
		}
		consumed, err := DecodeBits(got, append(slices.Clip(code), tail...), n, ones)
		if n%64 != 0 {
			words[len(words)-1] &= 1<<(n%64) - 1
		}
		if err != nil || consumed != len(code) || !slices.Equal(got, words) {
			t.Fatalf("n=%d ones=%d tail %q: consumed %d of %d: %v", n, ones, tail, consumed, len(code), err)
		}
	}
	code = AppendExact(nil, words, n, ones)
	if consumed, err := DecodeExact(got, append(slices.Clip(code), 1, 2, 3), n, ones); err != nil || consumed != len(code) || !slices.Equal(got, words) {
		t.Fatalf("n=%d ones=%d: consumed %d of %d bytes of the exact code: %v", n, ones, consumed, len(code), err)
	}
	code = AppendBits(nil, words, n, ones)
	for size := range min(len(code), 20) {
		if _, err := DecodeBits(got, code[:len(code)-1-size], n, ones); err == nil {
			t.Fatalf("n=%d ones=%d: accepted with %d bytes cut off", n, ones, size+1)
		}
	}
}

func head(b []byte) []byte { return b[:min(len(b), 64)] }

// shares are the shares of ones, in parts of 2^16, that stand on both sides of every choice.
var shares = []int{
	0, 1, 3, 30, 300, 511, 512, 513, 1000, 3000, 4300, 4368, 4370, 4400, 6000, 9000, 16000, 25000, 31000,
	31500, 31540, 31550, 32000, 32768,
}

func TestSharesOfOnes(t *testing.T) {
	for _, n := range []int{
		0, 1, 2, 7, 8, 9, 63, 64, 65, 200, 1000, riceFrom, riceFrom + 1, 2047, 12_500, exactMax, exactMax + 1, 20_001, 70_000, 200_003, 1 << 18,
	} {
		for _, share := range shares {
			ones := n * share >> 16
			checkCode(t, randomBits(n, ones), n)
			checkCode(t, randomBits(n, n-ones), n)
		}
	}
}

// TestUnlikelyBits codes arrays that no random source would give: all ones together, at either end, or evenly spaced.
func TestUnlikelyBits(t *testing.T) {
	for _, n := range []int{100, 5000, 20_001, 200_003} {
		for _, share := range shares {
			ones := max(n*share>>16, 1)
			for _, place := range []func(i int) int{
				func(i int) int { return i },
				func(i int) int { return n - 1 - i },
				func(i int) int { return i * (n / ones) },
				func(i int) int { return i / 8 * 8 * min(n/ones, 2) / 2 },
			} {
				words := make([]uint64, wordsFor(n))
				for i := range ones {
					p := min(place(i), n-1)
					words[p/64] |= 1 << (p % 64)
				}
				checkCode(t, words, n)
			}
		}
	}
}

// TestLongGaps codes arrays in the Rice code with one long gap, of up to 89 zeros in unary, after other numbers of
// ones without a gap.
func TestLongGaps(t *testing.T) {
	const n, ones = 12_500, 100
	low := choose(n, ones).low
	for before := range 8 { // seven bits each
		for upper := range 90 {
			words := make([]uint64, wordsFor(n))
			for i := range ones {
				at := i
				if i >= before {
					at += (upper+1)<<low - 1
				}
				words[at/64] |= 1 << (at % 64)
			}
			checkCode(t, words, n)
		}
	}
}
