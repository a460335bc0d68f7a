package coding

import "math/bits"

type method uint8

const (
	empty method = iota // all bits are alike
	raw
	exact
)

// methodFor chooses the code for n bits with the given number of ones.
func methodFor(n, ones int) method {
	switch {
	case ones == 0 || ones == n:
		return empty
	case exactBytes(n, ones) >= (n+7)/8:
		return raw
	default:
		return exact
	}
}

// PredictedBytes is the size of the code of n random bits with the given number of ones: what to plan with. The same on every
// machine.
func PredictedBytes(n, ones int) int {
	switch methodFor(n, ones) {
	case empty:
		return 0
	case raw:
		return (n + 7) / 8
	default:
		return exactBytes(n, ones)
	}
}

// MaxBytes is at least the size of any code of n bits with the given number of ones.
func MaxBytes(n, ones int) int {
	return n/8 + 16 // the exact code is the same length for all arrays to within its last bytes
}

// exactBytes is what the exact code takes.
func exactBytes(n, ones int) int { return int((entropy(n, ones)>>fraction + 12) / 8) }

// fraction is the number of binary digits after the point of a logarithm or an entropy.
const fraction = 20

// entropy is n*H(ones/n) in units of 2^-fraction bits; 0 < ones < n < 2^40.
func entropy(n, ones int) uint64 {
	return scaled(ones, log2(n)-log2(ones)) + scaled(n-ones, log2(n)-log2(n-ones))
}

// logFraction is the number of binary digits after the point that log2 returns.
const logFraction = 40

// scaled is k times a logarithm, cut to fraction digits.
func scaled(k int, log uint64) uint64 {
	hi, lo := bits.Mul64(uint64(k), log)
	return hi<<(64-logFraction+fraction) | lo>>(logFraction-fraction)
}

// log2 is the binary logarithm of x > 0 in units of 2^-logFraction, by repeated squaring of the mantissa.
func log2(x int) uint64 {
	whole := bits.Len64(uint64(x)) - 1
	log := uint64(whole)
	m := uint64(x) << (63 - whole) // in [1, 2) with 63 digits after the point
	for range logFraction {
		hi, lo := bits.Mul64(m, m) // in [1, 4) with 62 digits in hi
		log <<= 1
		if hi>>63 == 1 {
			log |= 1
			m = hi
		} else {
			m = hi<<1 | lo>>63
		}
	}
	return log
}
