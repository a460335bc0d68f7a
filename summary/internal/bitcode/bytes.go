package bitcode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// The byte code takes eight bits as one symbol. A symbol's probability follows from the number of ones in it. Zeros
// fill up the last byte. If most bits are ones, the complement is coded; then flip is all ones, else zero.

// byteFrequencies sets the frequencies of bytes whose bits are one with probability p/2^16; p is at most 2^15. The
// zero byte gets the slots that rounding leaves.
func byteFrequencies(f *frequencies, p uint64) {
	var slots [9]uint16 // slots of a byte, by its number of ones
	for c := 1; c <= 8; c++ {
		x := uint64(1) << 48
		for i := range 8 {
			if i < c {
				x = x * p >> 16
			} else {
				x = x * (1<<16 - p) >> 16
			}
		}
		slots[c] = uint16(max(1, (x+1<<(47-scaleBits))>>(48-scaleBits)))
	}
	sum := uint16(0)
	for b := 1; b < 256; b++ {
		sum += slots[bits.OnesCount8(uint8(b))]
	}
	slots[0] = scale - sum
	f.n = 256
	for b := range 256 {
		f.start[b+1] = f.start[b] + slots[bits.OnesCount8(uint8(b))]
	}
}

func appendBytes(dst []byte, words []uint64, n int, c choice) []byte {
	var f frequencies
	var symbols [256]symbol
	byteFrequencies(&f, c.p>>48)
	f.symbols(&symbols)
	dst, buf := room(dst, c.most)
	e := newEncoder(buf)
	whole := n / 64
	if rest := n % 64; rest > 0 {
		w := (words[whole] ^ c.flip) & (1<<rest - 1)
		for i := (rest - 1) / 8; i >= 0; i-- {
			e.put(0, &symbols[byte(w>>(8*i))])
		}
	}
	if c.lanes == maxLanes {
		e.putWords(words[:whole], c.flip, &symbols)
	} else {
		for i := whole - 1; i >= 0; i-- {
			for w, j := words[i]^c.flip, 0; j < 4; j++ {
				e.putPair(0, &symbols[byte(w>>48)], &symbols[byte(w>>56)])
				w <<= 16
			}
		}
	}
	return append(dst, e.finish(c.lanes)...)
}

// putWords encodes whole words, the last one first, with a quarter of each word in each of four lanes.
func (e *encoder) putWords(words []uint64, flip uint64, symbols *[256]symbol) {
	x0, x1, x2, x3 := e.state[0], e.state[1], e.state[2], e.state[3]
	buf, pos := e.buf, e.pos
	step := func(x, pair uint64) uint64 {
		first, second := &symbols[byte(pair)], &symbols[byte(pair>>8)]
		if x >= uint64(first.freq)*uint64(second.freq)<<(stateBits-2*scaleBits) {
			pos -= wordBytes
			binary.LittleEndian.PutUint32(buf[pos:], uint32(x))
			x >>= wordBits
		}
		return first.push(second.push(x))
	}
	for i := len(words) - 1; i >= 0; i-- {
		w := words[i] ^ flip
		x3 = step(x3, w>>48)
		x2 = step(x2, w>>32)
		x1 = step(x1, w>>16)
		x0 = step(x0, w)
	}
	e.state, e.pos = [maxLanes]uint64{x0, x1, x2, x3}, pos
}

func decodeBytes(words []uint64, src []byte, n int, c choice) (int, error) {
	var f frequencies
	var t table
	d, err := newDecoder(src, c.lanes)
	if err != nil {
		return 0, err
	}
	byteFrequencies(&f, c.p>>48)
	f.table(&t)
	whole := n / 64
	i := 0
	if c.lanes == maxLanes {
		i = d.getWords(words[:whole], c.flip, &t)
	}
	for ; i < whole && d.pos <= len(src); i++ {
		var w uint64
		for j := range 4 {
			first, second := d.getPair(j%c.lanes, &t)
			w |= (first | second<<8) << (16 * j)
		}
		words[i] = w ^ c.flip
	}
	if rest := n % 64; rest > 0 {
		var w uint64
		for j := 0; j < rest; j += 8 {
			w |= d.get(0, &t) << j
		}
		if w>>rest != 0 {
			return 0, fmt.Errorf("bitcode: bits set after the last: %w", ErrMalformed)
		}
		words[whole] = (w ^ c.flip) & (1<<rest - 1)
	}
	return d.done(c.lanes)
}

// getWords decodes whole words with four lanes, while src is long enough for the longest symbols. It returns the
// number of words. Whether a lane reads from the stream is unpredictable, so the read is masked, not branched on.
func (d *decoder) getWords(words []uint64, flip uint64, t *table) int {
	x0, x1, x2, x3 := d.state[0], d.state[1], d.state[2], d.state[3]
	src, pos := d.src, d.pos
	i := 0
	for ; i < len(words) && pos+maxLanes*wordBytes <= len(src); i++ {
		var a, b, next, low uint64
		x0, a = t.pop(x0)
		x0, b = t.pop(x0)
		w := a | b<<8
		x1, a = t.pop(x1)
		x1, b = t.pop(x1)
		w |= a<<16 | b<<24
		next = binary.LittleEndian.Uint64(src[pos:])
		x0, low = take(x0, next)
		pos += int(low & wordBytes)
		x1, low = take(x1, next>>(low&wordBits))
		pos += int(low & wordBytes)
		x2, a = t.pop(x2)
		x2, b = t.pop(x2)
		w |= a<<32 | b<<40
		x3, a = t.pop(x3)
		x3, b = t.pop(x3)
		w |= a<<48 | b<<56
		next = binary.LittleEndian.Uint64(src[pos:])
		x2, low = take(x2, next)
		pos += int(low & wordBytes)
		x3, low = take(x3, next>>(low&wordBits))
		pos += int(low & wordBytes)
		words[i] = w ^ flip
	}
	d.state, d.pos = [maxLanes]uint64{x0, x1, x2, x3}, pos
	return i
}

// take refills a state that is below its range, from the low half of next. low is then all ones; else low is zero and
// the state is unchanged.
func take(x, next uint64) (filled, low uint64) {
	low = uint64(int64(x-stateStart) >> 63)
	return x ^ (x^(x<<wordBits|uint64(uint32(next))))&low, low
}
