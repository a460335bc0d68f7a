package coding

import (
	"fmt"
	"math/bits"
)

// The gap code, for arrays with few ones: the number of zeros before every one, which is geometrically distributed. A gap is cut into a
// low part of c.low bits, so few that its values are as good as equally likely, and the rest, a geometric
// variable again. That is coded as a symbol; the last symbol of the alphabet stands for "as much as this, and more", after
// which, a geometric variable having no memory, the same alphabet serves again.

// gapFrequencies are the frequencies of the upper parts of gaps when bits are one with probability p/2^64. The alphabet ends where
// symbols get too rare for the scale.
func gapFrequencies(f *frequencies, p uint64, low int) {
	q := -p // 2^64 times the probability that 2^low zeros follow
	for range low {
		q, _ = bits.Mul64(q, q)
	}
	left := ^uint64(0) // 2^64 times the probability of this symbol or a later one
	f.n, f.start[0] = 0, 0
	for f.n < 255 {
		left, _ = bits.Mul64(left, q)
		start := uint16(scale - left>>(64-scaleBits))
		if f.n > 0 && start < f.start[f.n]+3 {
			break
		}
		f.n++
		f.start[f.n] = start
	}
	f.n++
	f.start[f.n] = scale
}

func appendGaps(dst []byte, words []uint64, n int, c choice) []byte {
	var f frequencies
	var symbols [256]symbol
	gapFrequencies(&f, c.p, c.low)
	f.symbols(&symbols)
	dst, buf := room(dst, c.maxBytes)
	e := newEncoder(buf)
	more := f.n - 1
	putGap := func(lane, gap int) {
		upper := gap >> c.low
		e.putLow(lane, uint64(gap), c.low)
		e.put(lane, &symbols[upper%more])
		for range upper / more {
			e.put(lane, &symbols[more])
		}
	}
	one, above := c.few-1, -1 // index and place of the one whose gap is not yet put
	for i := len(words) - 1; i >= 0; i-- {
		w := words[i] ^ c.flip
		if i == n/64 {
			w &= 1<<(n%64) - 1
		}
		for w != 0 {
			top := 63 - bits.LeadingZeros64(w)
			w ^= 1 << top
			place := i*64 + top
			if above >= 0 {
				putGap(one%c.lanes, above-place-1)
				one--
			}
			above = place
		}
	}
	putGap(0, above)
	return append(dst, e.finish(c.lanes)...)
}

func decodeGaps(words []uint64, src []byte, n int, c choice) (int, error) {
	var f frequencies
	var t table
	d, ok := newDecoder(src, c.lanes)
	if !ok {
		return 0, fmt.Errorf("coding: states of %d lanes: %w", c.lanes, ErrMalformed)
	}
	gapFrequencies(&f, c.p, c.low)
	f.table(&t)
	fill(words, n, c.flip != 0)
	more := f.n - 1
	place := -1
	for one := range c.few {
		lane := one % c.lanes
		s := int(d.get(lane, &t))
		place += 1 + s<<c.low
		for s == more && place < n {
			s = int(d.get(lane, &t))
			place += s << c.low
		}
		place += int(d.getLow(lane, c.low))
		if place >= n {
			return 0, fmt.Errorf("coding: a bit after the last: %w", ErrMalformed)
		}
		words[place/64] ^= 1 << (place % 64)
	}
	if !d.done(c.lanes) {
		return 0, fmt.Errorf("coding: states do not end where they start: %w", ErrMalformed)
	}
	return d.pos, nil
}

// pieceBits is how much of a low part is put at once.
const pieceBits = 24

// putLow puts the low n bits of v, in pieces that a state can take.
func (e *encoder) putLow(lane int, v uint64, n int) {
	for ; n > 0; n -= pieceBits {
		size := min(n, pieceBits)
		e.putBits(lane, v&(1<<size-1), size)
		v >>= size
	}
}

// getLow gets what putLow put: the highest piece was put last.
func (d *decoder) getLow(lane, n int) (v uint64) {
	for n > 0 {
		size := (n-1)%pieceBits + 1
		v = v<<size | d.getBits(lane, size)
		n -= size
	}
	return v
}
