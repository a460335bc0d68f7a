package bitcode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// The Rice code, for short arrays with few ones, codes the number of zeros before every one, as the gap code does. A
// gap is cut into a low part of c.low bits and an upper part. The upper part is written in unary, as zeros and a one;
// the low part follows (Golomb, "Run-length encodings", 1966; Rice, "Some practical universal noiseless coding
// techniques", 1979). Bits are written from the lowest of each byte on, and zeros fill up the last byte. For each of
// the few this takes some 0.03 to 0.12 bits more than the exact code. There are no states and no tables.

// chooseRice sets the number of low bits, and the sizes. The low part gets the fewest bits with which the upper part
// is mostly below two. That is the best number, or costs hardly more than the best.
func (c *choice) chooseRice(n int) {
	c.method = inRice
	for c.few<<(c.low+1) < n {
		c.low++
	}
	c.p, _ = bits.Div64(uint64(c.few), 0, uint64(n))
	more := zerosFollow(c.p, c.low)
	high, low := bits.Mul64(uint64(c.few), more)
	unary, _ := bits.Div64(high, low, -more) // all unary zeros together, if gaps are geometrically distributed
	fixed := c.few * (c.low + 1)
	c.predicted = (fixed + int(unary) + 7) / 8
	c.most = (fixed + (n-c.few)>>c.low + 7) / 8
}

// zerosFollow returns 2^64 times the probability of 2^low zeros in a row, if bits are one with probability p/2^64.
func zerosFollow(p uint64, low int) uint64 {
	q := -p
	for range low {
		q, _ = bits.Mul64(q, q)
	}
	return q
}

func appendRice(dst []byte, words []uint64, n int, c choice) []byte {
	w := bitWriter{dst: dst}
	after := 0 // the place after the last bit encoded as a one
	for i, word := range words {
		word ^= c.flip
		if i == n/64 {
			word &= 1<<(n%64) - 1
		}
		for ; word != 0; word &= word - 1 {
			at := i*64 + bits.TrailingZeros64(word)
			gap := uint64(at - after)
			after = at + 1
			w.putZeros(gap >> c.low)
			w.put(1|gap<<1&(2<<c.low-1), c.low+1)
		}
	}
	return w.finish()
}

// bitWriter writes bits, from the lowest of each byte on.
type bitWriter struct {
	dst  []byte
	word uint64 // bits not yet in dst
	held int    // number of these bits, below 32
}

// put writes the low size bits of v, at most 32. The other bits of v must be zero.
func (w *bitWriter) put(v uint64, size int) {
	w.word |= v << w.held
	if w.held += size; w.held >= 32 {
		w.dst = binary.LittleEndian.AppendUint32(w.dst, uint32(w.word))
		w.word >>= 32
		w.held -= 32
	}
}

func (w *bitWriter) putZeros(count uint64) {
	for ; count > 32; count -= 32 {
		w.put(0, 32)
	}
	w.put(0, int(count))
}

// finish fills up the last byte with zeros, and returns what was written.
func (w *bitWriter) finish() []byte {
	for ; w.held > 0; w.held -= 8 {
		w.dst = append(w.dst, byte(w.word))
		w.word >>= 8
	}
	return w.dst
}

// mostZeros is the most zeros of a unary number that one read takes. With a one and a low part of at most 13 bits,
// which is the most in short arrays, that makes the 57 bits of a read.
const mostZeros = 57 - 1 - 13

func decodeRice(words []uint64, src []byte, n int, c choice) (int, error) {
	fill(words, n, c.flip != 0)
	low, mask := c.low&63, uint64(1)<<(c.low&63)-1
	bit := 0        // next bit of src
	at := uint64(0) // the place after the last bit decoded as a one
	for range c.few {
		code := bitsFrom(src, bit)
		for code&(1<<mostZeros-1) == 0 && at < uint64(n) {
			at += mostZeros << low
			bit += mostZeros
			code = bitsFrom(src, bit)
		}
		zeros := bits.TrailingZeros64(code | 1<<mostZeros)
		code >>= zeros
		at += uint64(zeros)<<low + code>>1&mask
		bit += zeros + 1 + low
		if at >= uint64(n) {
			return 0, fmt.Errorf("bitcode: a bit after the last: %w", ErrMalformed)
		}
		words[at/64] ^= 1 << (at % 64)
		at++
	}
	consumed := (bit + 7) / 8
	if consumed > len(src) {
		return 0, fmt.Errorf("bitcode: %d bytes, %d needed: %w", len(src), consumed, ErrMalformed)
	}
	if bit%8 != 0 && src[bit/8]>>(bit%8) != 0 {
		return 0, fmt.Errorf("bitcode: bits set after the last: %w", ErrMalformed)
	}
	return consumed, nil
}

// bitsFrom returns at least 57 bits of src from the given bit on, with zeros beyond its end.
func bitsFrom(src []byte, bit int) uint64 {
	if bit/8+8 <= len(src) {
		return binary.LittleEndian.Uint64(src[bit/8:]) >> (bit % 8)
	}
	var last [8]byte
	if bit/8 < len(src) {
		copy(last[:], src[bit/8:])
	}
	return binary.LittleEndian.Uint64(last[:]) >> (bit % 8)
}
