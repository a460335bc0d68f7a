package bitcode

import "math/bits"

// maxBits is the most bits that an array may have.
const maxBits = 1 << 40

type method uint8

const (
	empty   method = iota // all bits are equal: no bytes
	raw                   // the bits as they are
	exact                 // an arithmetic coder
	inRice                // the Rice code of the gaps between ones
	inGaps                // rANS of the gaps between ones
	inBytes               // rANS of bytes
)

const (
	// Most bits of an array in the exact code, which takes ten times as long as rANS, but has no states to store
	exactMax = 1 << 14
	// With more bits and few ones, the Rice code takes the place of the exact code
	riceFrom  = 1 << 10
	fewShare  = 15      // ones are few if there are fewer than ⌊n/fewShare⌋ of them
	lanesFrom = 8 << 10 // bytes of code from which it gets four lanes, which cost 18 bytes more

	spareBytes = 6 // mean bytes that a lane of rANS takes beyond the entropy
)

// choice is the method of a code and its parameters. All follow from the length and the number of ones.
type choice struct {
	method    method
	lanes     int
	flip      uint64 // all ones if the complement is coded
	few       int    // number of ones after flipping
	p         uint64 // 2^64 times the share of these ones
	low       int    // bits of the low part of a gap
	predicted int    // expected bytes of the code of random bits
	most      int    // upper bound of the bytes of the code of any bits
}

// choose returns the choice for n bits with the given number of ones.
func choose(n, ones int) choice {
	c := choice{few: ones}
	if ones > n/2 {
		c.flip, c.few = ^uint64(0), n-ones
	}
	if c.few == 0 {
		return c
	}
	switch {
	case n > exactMax:
		c.chooseRANS(n)
	case n > riceFrom && c.few < n/fewShare:
		c.chooseRice(n)
	default:
		c.method, c.predicted = exact, exactBytes(n, c.few)
		c.most = c.predicted + 1
	}
	if size := (n + 7) / 8; c.predicted >= size-size/1024 { // less than a thousandth would be saved
		c.method, c.predicted, c.most = raw, size, size
	}
	return c
}

// chooseRANS chooses between gaps and bytes, and sets the number of lanes and the sizes.
func (c *choice) chooseRANS(n int) {
	c.p, _ = bits.Div64(uint64(c.few), 0, uint64(n))
	c.method = inBytes
	symbols := n/8 + 1
	if c.few < n/fewShare {
		c.method = inGaps
		for c.few < n>>(7+c.low) {
			c.low++
		}
		symbols = c.few + n>>c.low/64
	}
	coded := int(entropy(n, c.few) >> (fraction + 3))
	c.lanes = 1
	if coded >= lanesFrom {
		c.lanes = maxLanes
	}
	c.predicted = coded + c.lanes*spareBytes
	// No symbol has less than a quarter of the slots due to it. That costs at most 2 bits each.
	c.most = coded + symbols/4 + 64
}

// PredictedBytes returns the expected size of the code of n random bits with the given number of ones, to plan with.
// Up to 2^10 bits the actual size differs by at most a byte; up to 2^14 bits, if ones are few, the mean size does.
// Above 2^14 bits, the actual size is within half a percent. The result is computed in integers, so it is the same on
// every machine. 0 <= ones <= n <= 2^40.
func PredictedBytes(n, ones int) int { return choose(n, ones).predicted }

// minBytes returns a lower bound of the size of the code of any n bits with the given number of ones.
func minBytes(n, ones int) int { return PredictedBytes(n, ones)/4 - 1 }

// exactBytes returns the size of the exact code of any n bits with the given number of ones, to within a byte. It is
// the logarithm of the number of these arrays, by Stirling's formula, plus half a bit for the ending.
func exactBytes(n, ones int) int {
	const (
		tau  = 2_780_297 // log2(2 pi)
		half = 1 << (fraction - 1)
	)
	correction := tau + (log2(ones)+log2(n-ones)-log2(n)+1<<logFraction)>>(logFraction-fraction) - 1<<fraction
	return int((entropy(n, ones) - correction/2 + half + 8<<fraction - 1) >> (fraction + 3))
}

// fraction is the number of binary digits after the point of a logarithm or an entropy.
const fraction = 20

// entropy returns n*H(ones/n) in units of 2^-fraction bits; 0 < ones < n <= maxBits.
func entropy(n, ones int) uint64 {
	return scaled(ones, log2(n)-log2(ones)) + scaled(n-ones, log2(n)-log2(n-ones))
}

// logFraction is the number of binary digits after the point that log2 returns.
const logFraction = 40

// scaled returns k times a logarithm, truncated to fraction digits.
func scaled(k int, log uint64) uint64 {
	hi, lo := bits.Mul64(uint64(k), log)
	return hi<<(64-logFraction+fraction) | lo>>(logFraction-fraction)
}

// log2 returns the binary logarithm of x > 0 in units of 2^-logFraction, by repeated squaring of the mantissa.
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
