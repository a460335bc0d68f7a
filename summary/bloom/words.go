package bloom

import "math/bits"

// A bit array is a []uint64 with bit i in bit i%64 of word i/64.

// wordsFor returns the number of words that n bits take.
func wordsFor(n uint64) int { return int((n + 63) / 64) }

// lowMask returns a word with the lowest n%64 bits set, all of them if n%64 is 0.
func lowMask(n uint64) uint64 { return ^uint64(0) >> (-n % 64) }

// clearFrom clears all bits from bit n on in the word that holds bit n-1, n >= 1.
func clearFrom(words []uint64, n uint64) { words[(n-1)/64] &= lowMask(n) }

// countRange counts the bits set among n bits from bit at on, n >= 1: it counts whole words, less the bits outside.
func countRange(words []uint64, at, n uint64) int {
	first, last := at/64, (at+n-1)/64
	before := words[first] &^ (^uint64(0) << (at % 64))
	after := words[last] &^ lowMask(at+n)
	return countOnes(words[first:last+1]) - bits.OnesCount64(before) - bits.OnesCount64(after)
}

// countAndRange counts the bits set in both arrays among n bits from bit at on, n >= 1.
func countAndRange(a, b []uint64, at, n uint64) int {
	first, last := at/64, (at+n-1)/64
	before := a[first] & b[first] &^ (^uint64(0) << (at % 64))
	after := a[last] & b[last] &^ lowMask(at+n)
	return countAnd(a[first:last+1], b[first:last+1]) - bits.OnesCount64(before) - bits.OnesCount64(after)
}

// evenBits gathers the bits at even places of w in its lower half.
func evenBits(w uint64) uint64 {
	w &= 0x5555555555555555
	w = (w | w>>1) & 0x3333333333333333
	w = (w | w>>2) & 0x0f0f0f0f0f0f0f0f
	w = (w | w>>4) & 0x00ff00ff00ff00ff
	w = (w | w>>8) & 0x0000ffff0000ffff
	return (w | w>>16) & 0x00000000ffffffff
}
