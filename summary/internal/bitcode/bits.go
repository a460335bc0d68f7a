package bitcode

import (
	"fmt"
	"math/bits"
	"slices"
)

// AppendBits appends the code of the first n bits of words to dst. Bit i is bit i%64 of words[i/64]. ones must be the
// number of ones among the n bits. The code contains neither n nor ones. AppendBits panics if words is shorter than n
// bits, or if ones is wrong.
func AppendBits(dst []byte, words []uint64, n, ones int) []byte {
	words = counted(words, n, ones)
	switch c := choose(n, ones); c.method {
	case empty:
		return dst
	case raw:
		return appendRaw(dst, words, n)
	case exact:
		return appendExact(dst, words, n, ones)
	case inRice:
		return appendRice(dst, words, n, c)
	case inGaps:
		return appendGaps(dst, words, n, c)
	default:
		return appendBytes(dst, words, n, c)
	}
}

// AppendExact does what AppendBits does, but in the exact code at every length, at about a twentieth of the speed. That
// is the shortest code there is, within a byte of log2 of the number of arrays with the same number of ones.
func AppendExact(dst []byte, words []uint64, n, ones int) []byte {
	return appendExact(dst, counted(words, n, ones), n, ones)
}

// counted returns the words of the first n bits. It panics if there are fewer bits, or another number of ones.
func counted(words []uint64, n, ones int) []uint64 {
	words = words[:wordsFor(n)]
	if got := count(words, n); got != ones {
		panic(fmt.Sprintf("bitcode: %d bits set, not %d", got, ones))
	}
	return words
}

// DecodeBits decodes n bits with the given number of ones from the start of src into words, and returns the number of
// bytes consumed. It clears the unused bits of the last word. If src does not start with a code by AppendBits for n and
// ones, the error wraps [ErrMalformed], and the contents of words are unspecified. It allocates nothing, never reads
// past src, and panics only if words is shorter than n bits.
func DecodeBits(words []uint64, src []byte, n, ones int) (consumed int, err error) {
	if err := checkCounts(n, ones); err != nil {
		return 0, err
	}
	words = words[:wordsFor(n)]
	switch c := choose(n, ones); c.method {
	case empty:
		fill(words, n, ones > 0)
		return 0, nil
	case exact:
		return decodeExact(words, src, n, ones)
	case inRice:
		return decodeRice(words, src, n, c)
	case inGaps:
		return decodeGaps(words, src, n, c)
	case raw:
		consumed, err = decodeRaw(words, src, n)
	default:
		consumed, err = decodeBytes(words, src, n, c)
	}
	if got := count(words, n); err == nil && got != ones {
		return 0, fmt.Errorf("bitcode: %d ones, expected %d: %w", got, ones, ErrMalformed)
	}
	return consumed, err
}

// DecodeExact does what DecodeBits does, for the code of AppendExact.
func DecodeExact(words []uint64, src []byte, n, ones int) (consumed int, err error) {
	if err := checkCounts(n, ones); err != nil {
		return 0, err
	}
	return decodeExact(words[:wordsFor(n)], src, n, ones)
}

func checkCounts(n, ones int) error {
	if n < 0 || uint64(n) > maxBits || ones < 0 || ones > n {
		return fmt.Errorf("bitcode: %d ones in %d bits: %w", ones, n, ErrMalformed)
	}
	return nil
}

// wordsFor returns the number of 64-bit words that hold n bits.
func wordsFor(n int) int { return int((uint(n) + 63) / 64) }

// count returns the number of ones among the first n bits of words, which has wordsFor(n) words.
func count(words []uint64, n int) int {
	ones := 0
	for _, w := range words {
		ones += bits.OnesCount64(w)
	}
	if n%64 != 0 {
		ones -= bits.OnesCount64(words[len(words)-1] >> (n % 64))
	}
	return ones
}

// fill sets the first n bits of words to one, or all to zero, and clears the unused bits of the last word.
func fill(words []uint64, n int, one bool) {
	var w uint64
	if one {
		w = ^uint64(0)
	}
	for i := range words {
		words[i] = w
	}
	if n%64 != 0 {
		words[len(words)-1] &= 1<<(n%64) - 1
	}
}

// room grows dst so that size more bytes fit. It returns dst, and the free space of these bytes behind dst.
func room(dst []byte, size int) (_, space []byte) {
	dst = slices.Grow(dst, size)
	return dst, dst[len(dst) : len(dst)+size]
}
