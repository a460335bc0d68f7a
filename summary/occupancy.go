package summary

import "math/bits"

// These functions compute expected numbers of ones of a block, in fixed point. The numbers decide where parts end and
// which parts a decoder accepts, so they have to be the same on every machine.

// fill returns 1 - e^(-n/2^level), the share of ones in a block of n keys, in units of 2^-62.
func fill(n, level int) uint64 {
	halvings := max(0, bits.Len(uint(n))-level+16)
	if halvings > 16+6 {
		return 1 << 62 // n/2^level >= 64: every bit is set
	}
	y := shift(uint64(n), 62-level-halvings) // n/2^level/2^halvings < 2^-16, in units of 2^-62
	square := mul62(y, y)
	u := y - square/2 + mul62(square, y)/6
	for range halvings {
		u = 2*u - mul62(u, u) // 1-e^-2y from 1-e^-y
	}
	return u
}

// occupied returns the expected number of ones of n keys at a level.
func occupied(n, level int) int { return int(mul62(fill(n, level), 1<<level)) }

// scale returns v*num/den, rounded down, for num <= den.
func scale(v, num, den int) int {
	hi, lo := bits.Mul64(uint64(v), uint64(num))
	q, _ := bits.Div64(hi, lo, uint64(den))
	return int(q)
}

// sigmas is the number of standard deviations that a number of ones may lie from the expected number.
const sigmas = 6

// slack returns the largest difference from v that is allowed for a count of mean v. It is six standard deviations of a
// Poisson variable, and a little more for small v, where the variable is not normal.
func slack(v int) int { return sigmas*(isqrt(v)+1) + sigmas }

// isqrt returns the square root of v, rounded down.
func isqrt(v int) int {
	if v < 2 {
		return max(v, 0)
	}
	r := 1 << ((bits.Len(uint(v)) + 1) / 2) // at least the root; Newton's steps only fall from there
	for {
		next := (r + v/r) / 2
		if next >= r {
			return r
		}
		r = next
	}
}

func mul62(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi<<2 | lo>>62
}

// shift returns v*2^by, rounded down.
func shift(v uint64, by int) uint64 {
	if by >= 0 {
		return v << by
	}
	return v >> -by
}
