package coding

import "math/bits"

// MaxBits is the longest array.
const MaxBits = 1 << 40

type method uint8

const (
	empty   method = iota // all bits are alike: no bytes
	raw                   // the bits as they are
	exact                 // an arithmetic coder
	inGaps                // rANS of the gaps between ones
	inBytes               // rANS of bytes
)

const (
	exactMax  = 1 << 14 // bits, up to which the exact code, about ten times slower, saves the states of rANS
	lanesFrom = 8 << 10 // bytes of code, from which four lanes, for 12 bytes more, are worth it
)

// choice is all that follows from the length and the number of ones.
type choice struct {
	method   method
	lanes    int
	flip     uint64 // all ones when the complement is coded
	few      int    // ones after flipping
	p        uint64 // 2^64 times their share
	low      int    // bits of the low part of a gap
	maxBytes int
}

// choose makes the choice for n bits with the given number of ones.
func choose(n, ones int) choice {
	c := choice{few: ones, lanes: 1}
	if ones > n/2 {
		c.flip, c.few = ^uint64(0), n-ones
	}
	size := (n + 7) / 8
	switch {
	case c.few == 0:
		c.method = empty
		return c
	case n <= exactMax:
		c.method = exact
		if exactBytes(n, c.few) >= size {
			c.method = raw
		}
		return c
	case c.few > n/1000*481: // less than a thousandth to gain
		c.method = raw
		return c
	}
	c.p, _ = bits.Div64(uint64(c.few), 0, uint64(n))
	c.method = inBytes
	symbols := size
	if c.few < n/16 {
		c.method = inGaps
		for c.few < n>>(7+c.low) {
			c.low++
		}
		symbols = c.few + n>>c.low/200
	}
	coded := int(entropy(n, c.few) >> (fraction + 3))
	if coded >= lanesFrom {
		c.lanes = maxLanes
	}
	c.maxBytes = coded + symbols/4 + 64
	return c
}

// PredictedBytes is the size of the code of n random bits with the given number of ones: what to plan with. The same on every
// machine.
func PredictedBytes(n, ones int) int {
	switch c := choose(n, ones); c.method {
	case empty:
		return 0
	case raw:
		return (n + 7) / 8
	case exact:
		return exactBytes(n, c.few)
	default:
		return int(entropy(n, c.few)>>(fraction+3)) + c.lanes*6
	}
}

// MaxBytes is at least the size of any code of n bits with the given number of ones.
func MaxBytes(n, ones int) int {
	switch c := choose(n, ones); c.method {
	case inGaps, inBytes:
		return c.maxBytes
	default:
		return n/8 + 16 // the exact code is the same length for all arrays to within its last bytes
	}
}

// exactBytes is what the exact code takes.
func exactBytes(n, ones int) int { return int((entropy(n, ones)>>fraction + 12) / 8) }

// fraction is the number of binary digits after the point of a logarithm or an entropy.
const fraction = 20

// entropy is n*H(ones/n) in units of 2^-fraction bits; 0 < ones < n <= MaxBits.
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
