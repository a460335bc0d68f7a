package bitcode

import (
	"encoding/binary"
	"math/bits"
)

// The exact code: an arithmetic coder takes the bits one by one, each as a one with probability (ones left)/(bits
// left). All arrays with the same number of ones are equally likely under it, so the code is about log2 of their
// number, and the count needs no check. It ends in the fewest bytes that stay inside the last interval whatever
// follows them.

// interval is what the arithmetic coder has narrowed the code value to: [low, low+width) in units of 2^-64 of the
// window that starts after the bytes already fixed. width is at least 2^56 between bits.
type interval struct{ low, width uint64 }

// ones returns the part of the interval that stands for a one, the lower one: width/total·one, the quotient rounded
// down. 0 < one < total < 2^56. Up to exactMax it multiplies by a reciprocal, several times as fast as a division.
func (v interval) ones(one, total int) uint64 {
	if total >= len(reciprocals) {
		return v.width / uint64(total) * uint64(one)
	}
	return v.few(one, total)
}

// few is ones for a total of at most exactMax, at least 2.
func (v interval) few(one, total int) uint64 {
	r := &reciprocals[total]
	q, low := bits.Mul64(v.width, r.high)
	high, _ := bits.Mul64(v.width, r.low)
	_, carry := bits.Add64(low, high, 0)
	return (q + carry) * uint64(one)
}

// reciprocal is 2^128/b, rounded up or one more: the top of a product with a number below 2^64 is the quotient, exactly.
type reciprocal struct{ high, low uint64 }

var reciprocals = func() (r [exactMax + 1]reciprocal) {
	for b := uint64(2); b < uint64(len(r)); b++ {
		high, rest := bits.Div64(1, 0, b)
		low, _ := bits.Div64(rest, 0, b)
		r[b] = reciprocal{high, low + 1}
	}
	return r
}()

// end returns the fewest bytes whose every continuation lies in the interval, and how far their value lies above low.
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
		part := v.ones(ones, n-i)
		if words[i/64]>>(i%64)&1 == 1 {
			v.width = part
			ones--
		} else {
			dst = v.raise(dst, part)
			v.width -= part
		}
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

// raise adds to low and carries into the bytes already written. The code value stays below one, so a carry always ends.
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
