package coding

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// The byte code: eight bits are one symbol, whose probability follows from the number of ones in it. The last byte is filled up
// with zeros. When most bits are ones their complement is coded: flip is then all ones, else zero.

// byteFrequencies are the frequencies of bytes whose bits are one with probability p/2^16, p at most 2^15. The zero byte, of
// which there is only one, takes what rounding leaves.
func byteFrequencies(f *frequencies, p uint64) {
	var slots [9]uint16 // of one byte with so many ones
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
	dst, buf := room(dst, c.maxBytes)
	e := newEncoder(buf)
	size := (n + 7) / 8
	whole := n / 64
	if whole < len(words) {
		w := (words[whole] ^ c.flip) & (1<<(n%64) - 1)
		for i := size - 1; i >= whole*8; i-- {
			e.put(i%c.lanes, &symbols[byte(w>>(i%8*8))])
		}
	}
	if c.lanes == maxLanes {
		e.putWords(words[:whole], c.flip, &symbols)
	} else {
		for i := whole*8 - 1; i >= 0; i-- {
			e.put(i%c.lanes, &symbols[byte((words[i/8]^c.flip)>>(i%8*8))])
		}
	}
	return append(dst, e.finish(c.lanes)...)
}

// putWords puts whole words, last first, with four lanes.
func (e *encoder) putWords(words []uint64, flip uint64, symbols *[256]symbol) {
	x0, x1, x2, x3 := e.state[0], e.state[1], e.state[2], e.state[3]
	buf, pos := e.buf, e.pos
	step := func(x uint64, b byte) uint64 {
		s := &symbols[b]
		if x >= s.limit {
			pos -= 2
			binary.LittleEndian.PutUint16(buf[pos:], uint16(x))
			x >>= 16
		}
		return s.push(x)
	}
	for i := len(words) - 1; i >= 0; i-- {
		w := words[i] ^ flip
		x3, x2, x1, x0 = step(x3, byte(w>>56)), step(x2, byte(w>>48)), step(x1, byte(w>>40)), step(x0, byte(w>>32))
		x3, x2, x1, x0 = step(x3, byte(w>>24)), step(x2, byte(w>>16)), step(x1, byte(w>>8)), step(x0, byte(w))
	}
	e.state, e.pos = [maxLanes]uint64{x0, x1, x2, x3}, pos
}

func decodeBytes(words []uint64, src []byte, n, ones int, c choice) (int, error) {
	var f frequencies
	var t table
	d, ok := newDecoder(src, c.lanes)
	if !ok {
		return 0, fmt.Errorf("coding: states of %d lanes: %w", c.lanes, ErrMalformed)
	}
	byteFrequencies(&f, c.p>>48)
	f.table(&t)
	i := 0
	if c.lanes == maxLanes {
		i = 8 * d.getWords(words[:n/64], c.flip, &t)
	}
	for size := (n + 7) / 8; i < size; i += 8 {
		var w uint64
		for j := range min(8, size-i) {
			w |= uint64(d.get(j%c.lanes, &t)) << (8 * j)
		}
		words[i/8] = w ^ c.flip
	}
	if n%64 != 0 {
		last := &words[len(words)-1]
		if (*last^c.flip)>>(n%64) != 0 {
			return 0, fmt.Errorf("coding: bits set after the last: %w", ErrMalformed)
		}
		*last &= 1<<(n%64) - 1
	}
	if !d.done(c.lanes) {
		return 0, fmt.Errorf("coding: states do not end where they start: %w", ErrMalformed)
	}
	if got := count(words, n); got != ones {
		return 0, fmt.Errorf("coding: %d ones, expected %d: %w", got, ones, ErrMalformed)
	}
	return d.pos, nil
}

// getWords gets whole words with four lanes while there is enough of src for the longest symbols; it returns how many.
func (d *decoder) getWords(words []uint64, flip uint64, t *table) int {
	x0, x1, x2, x3 := d.state[0], d.state[1], d.state[2], d.state[3]
	src, pos := d.src, d.pos
	i := 0
	for ; i < len(words) && pos+16 <= len(src); i++ {
		var w uint64
		for shift := 0; shift < 64; shift += 32 {
			var b0, b1, b2, b3 byte
			x0, b0 = t.pop(x0)
			x1, b1 = t.pop(x1)
			x2, b2 = t.pop(x2)
			x3, b3 = t.pop(x3)
			w |= (uint64(b0) | uint64(b1)<<8 | uint64(b2)<<16 | uint64(b3)<<24) << shift
			if x0 < stateStart {
				x0 = x0<<16 | uint64(binary.LittleEndian.Uint16(src[pos:]))
				pos += 2
			}
			if x1 < stateStart {
				x1 = x1<<16 | uint64(binary.LittleEndian.Uint16(src[pos:]))
				pos += 2
			}
			if x2 < stateStart {
				x2 = x2<<16 | uint64(binary.LittleEndian.Uint16(src[pos:]))
				pos += 2
			}
			if x3 < stateStart {
				x3 = x3<<16 | uint64(binary.LittleEndian.Uint16(src[pos:]))
				pos += 2
			}
		}
		words[i] = w ^ flip
	}
	d.state, d.pos = [maxLanes]uint64{x0, x1, x2, x3}, pos
	return i
}

// pop returns the symbol on top of the state x and what the state was before it, less the 16 bits it may have given.
func (t *table) pop(x uint64) (uint64, byte) {
	slot := x % scale
	s := t.symbol[slot]
	return uint64(t.freq[s])*(x/scale) + slot - uint64(t.start[s]), s
}
