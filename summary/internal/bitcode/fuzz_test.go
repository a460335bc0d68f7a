package bitcode

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// FuzzCode checks the codes of arrays made of a seed, a length and a density.
func FuzzCode(f *testing.F) {
	f.Add(uint64(1), uint32(1000), uint16(300))
	f.Add(uint64(2), uint32(40_000), uint16(10))
	f.Add(uint64(5), uint32(12_345), uint16(900))
	f.Add(uint64(3), uint32(40_001), uint16(9000))
	f.Add(uint64(4), uint32(90_000), uint16(60_000))
	f.Fuzz(func(t *testing.T, seed uint64, length uint32, share uint16) {
		n := int(length % 300_000)
		r := rand.New(rand.NewPCG(seed, 0))
		words := make([]uint64, wordsFor(n))
		for i := range n {
			if r.IntN(1<<16) < int(share) {
				words[i/64] |= 1 << (i % 64)
			}
		}
		checkCode(t, words, n)
	})
}

// FuzzDecodeBits feeds the decoder hostile bytes: what it accepts must be what AppendBits writes.
func FuzzDecodeBits(f *testing.F) {
	for _, n := range []int{0, 9, 300, 5000, 20_000, 200_000} {
		for _, ones := range []int{0, n / 1000, n / 30, n / 8, n / 2, n * 3 / 4, n} {
			f.Add(AppendBits(nil, randomBits(n, ones), n, ones), uint32(n), uint32(ones))
		}
	}
	fuzzDecode(f, 1<<18, DecodeBits, AppendBits)
}

// FuzzDecodeExact does the same for the exact code at every length.
func FuzzDecodeExact(f *testing.F) {
	for _, n := range []int{0, 9, 300, 20_000} {
		for _, ones := range []int{0, n / 1000, n / 30, n / 2, n} {
			f.Add(AppendExact(nil, randomBits(n, ones), n, ones), uint32(n), uint32(ones))
		}
	}
	fuzzDecode(f, 1<<15, DecodeExact, AppendExact)
}

// fuzzDecode holds a decoder of fewer than most bits to accepting only what its encoder writes.
func fuzzDecode(f *testing.F, most int, decode func([]uint64, []byte, int, int) (int, error), encode func([]byte, []uint64, int, int) []byte) {
	f.Fuzz(func(t *testing.T, src []byte, length, count uint32) {
		n := int(length % uint32(most))
		ones := int(count) % (n + 1)
		words := make([]uint64, wordsFor(n))
		consumed, err := decode(words, slices.Clip(src), n, ones)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error is not ErrMalformed: %v", err)
			}
			return
		}
		if again := encode(nil, words, n, ones); !bytes.Equal(again, src[:consumed]) {
			t.Fatalf("n=%d ones=%d: accepted %x, which is written %x", n, ones, head(src[:consumed]), head(again))
		}
	})
}

// TestSparseOfNothing decodes numbers that the bytes cannot hold: an error, and no memory for them.
func TestSparseOfNothing(t *testing.T) {
	for _, c := range []struct {
		count int
		size  uint64
	}{{-1, 100}, {math.MinInt, 1 << 40}, {11, 10}, {1 << 24, 1 << 25}, {1 << 24, 1 << 48}, {math.MaxInt, math.MaxUint64}, {1 << 30, 1 << 31}} {
		for _, src := range [][]byte{nil, make([]byte, 1000)} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := DecodeSparse(nil, src, c.count, c.size, new([]uint64))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%d numbers below %d in %d bytes: %v", c.count, c.size, len(src), err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
				t.Errorf("%d numbers below %d in %d bytes: %d bytes allocated", c.count, c.size, len(src), took)
			}
		}
	}
}

// TestSparse decodes what was encoded, and refuses it where bytes are missing or the size is another.
func TestSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for _, n := range []int{1, 2, 100, 3000} {
		var numbers []uint64
		for v := uint64(0); len(numbers) < n; v += 1 + r.Uint64N(1<<20) {
			numbers = append(numbers, v)
		}
		size := numbers[n-1] + 1 + r.Uint64N(1<<20)
		code := AppendSparse(nil, numbers, size, new([]uint64))
		got, rest, err := DecodeSparse([]uint64{7}, append(code, 1, 2), n, size, new([]uint64))
		if err != nil || len(rest) != 2 || !slices.Equal(got[1:], numbers) {
			t.Errorf("%d numbers: %v, %d bytes left", n, err, len(rest))
		}
		if _, _, err := DecodeSparse(nil, code[:len(code)-1], n, size, new([]uint64)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d numbers, a byte less: %v", n, err)
		}
		if _, _, err := DecodeSparse(nil, code, n, numbers[n-1], new([]uint64)); n > 2 && !errors.Is(err, ErrMalformed) {
			t.Errorf("%d numbers below the last: %v", n, err)
		}
	}
}

// TestSparsePanics encodes numbers that no decoder would accept.
func TestSparsePanics(t *testing.T) {
	for name, numbers := range map[string][]uint64{"unsorted": {5, 3}, "twice": {3, 3}, "too large": {3, 100}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			AppendSparse(nil, numbers, 100, new([]uint64))
		}()
	}
}
