package bitcode

import "fmt"

// AppendExact is AppendBits with the exact code at every length, at about a twentieth of the speed. It is the shortest
// code there is, within a byte of log2 of the number of arrays with the same number of ones.
func AppendExact(dst []byte, words []uint64, n, ones int) []byte {
	words = words[:wordsFor(n)]
	if got := count(words, n); got != ones {
		panic(fmt.Sprintf("bitcode: %d bits set, not %d", got, ones))
	}
	return appendExact(dst, words, n, ones)
}

// DecodeExact is DecodeBits for the code of AppendExact.
func DecodeExact(words []uint64, src []byte, n, ones int) (consumed int, err error) {
	if n < 0 || uint64(n) > maxBits || ones < 0 || ones > n {
		return 0, fmt.Errorf("bitcode: %d ones in %d bits: %w", ones, n, ErrMalformed)
	}
	return decodeExact(words[:wordsFor(n)], src, n, ones)
}
