package bitcode

import (
	"encoding/binary"
	"math/bits"
)

// The exact code is an arithmetic coder of single bits. It codes each bit as a one with probability (ones left)/(bits
// left). Then all arrays with the same number of ones are equally likely, so the code takes about log2 of their
// number. The number of ones needs no check. The code ends with the fewest bytes that stay inside the last interval,
// whatever follows them.

// interval is the range to which the arithmetic coder has narrowed the code value: [low, low+width), in units of
// 2^-64. Both refer to the window after the bytes already fixed. width is at least 2^56 between bits.
type interval struct{ low, width uint64 }

// ones returns the width of the lower part of the interval, which stands for a one: width/total·one, with the
// quotient rounded down. 0 < one < total < 2^56. For a total up to exactMax it multiplies by a reciprocal, several
// times as fast as a division.
func (v interval) ones(one, total int) uint64 {
	if total >= len(reciprocals) {
		return v.width / uint64(total) * uint64(one)
	}
	return v.few(one, total)
}

// few does what ones does, for a total from 2 to exactMax.
func (v interval) few(one, total int) uint64 {
	return reciprocals[total].of(v.width) * uint64(one)
}

// floorLog2 returns the binary logarithm of x, rounded down.
func floorLog2(x int) int { return bits.Len(uint(x)) - 1 }

// reciprocal divides any number x below 2^64 by a fixed number b, with one multiplication. Let s be log2(b), rounded
// down. The quotient is (x·mul + add) / (2^64·2^s), rounded down, where mul is 2^64·2^s/b. If mul is rounded up and
// add is 0, this is exact for all x when mul·b is too high by at most 2^s. Otherwise mul is rounded down, and add is
// mul (Robison, "N-bit unsigned division via N-bit multiply-add", 2005).
type reciprocal struct{ mul, add, shift uint64 }

func newReciprocal(b int) reciprocal {
	s := uint64(floorLog2(b))
	if b == 1<<s {
		return reciprocal{^uint64(0), ^uint64(0), s}
	}
	down, rest := bits.Div64(1<<s, 0, uint64(b))
	if uint64(b)-rest <= 1<<s {
		return reciprocal{down + 1, 0, s}
	}
	return reciprocal{down, down, s}
}

// of returns x divided by the reciprocal's number, rounded down.
func (r *reciprocal) of(x uint64) uint64 {
	high, low := bits.Mul64(x, r.mul)
	_, carry := bits.Add64(low, r.add, 0)
	high, _ = bits.Add64(high, 0, carry)
	return high >> (r.shift & 63)
}

var reciprocals = func() (r [exactMax + 1]reciprocal) {
	for b := 1; b < len(r); b++ {
		r[b] = newReciprocal(b)
	}
	return r
}()

// end returns the least number of bytes that stay in the interval whatever bytes follow them, and the distance of
// their value above low.
func (v interval) end() (size int, above uint64) {
	for size = 1; ; size++ {
		unit := uint64(1) << (64 - 8*size)
		if above = -v.low & (unit - 1); above <= v.width && v.width-above >= unit {
			return size, above
		}
	}
}

func appendExact(dst []byte, words []uint64, n, ones int) []byte {
	v := interval{0, ^uint64(0)}
	for i := 0; ones > 0 && ones < n-i; i++ {
		part, one := v.ones(ones, n-i), words[i/64]>>(i%64)&1
		dst = v.raise(dst, part&(one-1))
		rest := v.width - part
		v.width = rest ^ (rest^part)&-one // without a branch that depends on the bit
		ones -= int(one)
		for v.width < 1<<56 {
			dst = append(dst, byte(v.low>>56))
			v.low, v.width = v.low<<8, v.width<<8
		}
	}
	size, above := v.end()
	dst = v.raise(dst, above)
	var last [8]byte
	binary.BigEndian.PutUint64(last[:], v.low)
	return append(dst, last[:size]...)
}

// raise adds the number by to low, and carries into the bytes already written. The code value stays below one, so a
// carry always ends.
func (v *interval) raise(dst []byte, by uint64) []byte {
	low, carry := bits.Add64(v.low, by, 0)
	v.low = low
	for i := len(dst) - 1; carry != 0; i-- {
		dst[i]++
		if dst[i] != 0 {
			break
		}
	}
	return dst
}
