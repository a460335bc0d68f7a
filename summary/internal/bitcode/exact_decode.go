package bitcode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// The decoder keeps the width of the interval, and the distance of the code value above low. Low itself is needed only
// at the end: there it is the code value less that distance. Each bit needs the one before, so the processor mostly
// waits. DecodeSeveral fills the wait with other arrays. Where ones are rare, the decoder works out the interval after
// several bits as if all were zeros. If the code value agrees, they are; else it decodes them one by one.

// exactDecoder is the state of decoding an array in the exact code.
type exactDecoder struct {
	words    []uint64
	src      []byte
	n, ones  int // bits of the array; ones still to come
	at       int // bits done
	width    uint64
	above    uint64 // the code value less low
	read     int    // bytes of src in the code value; beyond src it goes on with zeros
	finished bool   // the rest is all ones or all zeros, or src is used up
}

// window returns eight bytes of src from a place on, zeros beyond its end.
func window(src []byte, at int) uint64 {
	if at+8 <= len(src) {
		return binary.BigEndian.Uint64(src[at:])
	}
	return windowAtEnd(src, at)
}

func windowAtEnd(src []byte, at int) uint64 {
	var last [8]byte
	if at < len(src) {
		copy(last[:], src[at:])
	}
	return binary.BigEndian.Uint64(last[:])
}

func startExact(words []uint64, src []byte, n, ones int) (d exactDecoder, err error) {
	fill(words, n, false)
	d = exactDecoder{words: words, src: src, n: n, ones: ones, width: ^uint64(0), above: window(src, 0), read: 8}
	if d.above >= d.width {
		return d, fmt.Errorf("bitcode: outside the code: %w", ErrMalformed)
	}
	d.finished = ones == 0 || ones == n || len(src) == 0
	return d, nil
}

// run decodes until only equal bits are left.
func (d *exactDecoder) run() {
	for n := d.chunk(); d.room(n); {
		r := d.reciprocals(n)
		width, one := d.width, uint64(d.ones)
		for i := len(r) - 1; i >= 0; i-- {
			width -= r[i].of(width) * one
		}
		d.skip(n, width)
	}
	for !d.finished {
		d.step(64)
	}
}

// chunk returns the number of bits that are best taken for zeros at a time: 8, 16, 32 or 64, or 0 where ones are not
// rare. For a share p of ones it is about the root of 1/p: with more bits, too many chunks have a one.
func (d *exactDecoder) chunk() int {
	left := d.n - d.at
	if d.finished || left > exactMax || 40*d.ones > left {
		return 0
	}
	n := 8
	for n < 64 && 4*n*n*d.ones <= left {
		n *= 2
	}
	return n
}

// room reports whether n bits, if there are any and all are zeros, leave the decoder unfinished.
func (d *exactDecoder) room(n int) bool {
	return n > 0 && !d.finished && d.n-d.at-d.ones > n
}

// reciprocals returns the reciprocals of the numbers of bits left before each of the next n bits, last bit first.
func (d *exactDecoder) reciprocals(n int) []reciprocal {
	left := d.n - d.at
	return reciprocals[left-n+1 : left+1]
}

// skip passes n bits if all are zeros, which leaves the given width. Else it decodes them, up to the end of a word.
func (d *exactDecoder) skip(n int, width uint64) {
	part := d.width - width // the part of the interval that stands for a one among them
	if width < 1<<56 || d.above < part {
		d.step(n)
		return
	}
	d.width, d.above, d.at = width, d.above-part, d.at+n
}

// step decodes the next bits, at most n, up to the end of a word.
func (d *exactDecoder) step(n int) {
	v, above, ones, left := interval{width: d.width}, d.above, d.ones, d.n-d.at
	n = min(n, 64-d.at%64, left)
	word, bit := uint64(0), uint64(1)<<(d.at%64)
	src, read := d.src, d.read
	i := 0
	for ; i < n && uint(ones)-1 < uint(left)-1; i++ {
		part := v.ones(ones, left)
		left--
		if above < part {
			word |= bit
			v.width = part
			ones--
		} else {
			v.width -= part
			above -= part
		}
		bit <<= 1
		if v.width < 1<<56 {
			if read+8 > len(src) {
				i++
				break // without a call here, all stays in registers
			}
			shift := bits.LeadingZeros64(v.width) &^ 7
			above = above<<shift | binary.BigEndian.Uint64(src[read:])>>(64-shift)
			v.width <<= shift
			read += shift / 8
		}
	}
	d.words[d.at/64] |= word
	d.at += i
	d.width, d.above, d.ones, d.read = v.width, above, ones, read
	d.settle()
}

// settle ends some steps: it reads the bytes that the last step left to read, and sets finished.
func (d *exactDecoder) settle() {
	if d.width < 1<<56 {
		shift := bits.LeadingZeros64(d.width) &^ 7
		d.above = d.above<<shift | window(d.src, d.read)>>(64-shift)
		d.width <<= shift
		d.read += shift / 8
	}
	d.finished = d.ones == 0 || d.ones == d.n-d.at || d.read >= len(d.src)+8
}

// end fills in the bits that are left and checks the ending. It returns the number of bytes consumed.
func (d *exactDecoder) end() (int, error) {
	v := interval{window(d.src, d.read-8) - d.above, d.width}
	size, first := v.end()
	consumed := d.read - 8 + size
	if consumed > len(d.src) {
		return 0, fmt.Errorf("bitcode: %d bytes, at least %d: %w", len(d.src), consumed, ErrMalformed)
	}
	for i := d.at; d.ones > 0; i++ {
		d.words[i/64] |= 1 << (i % 64)
		d.ones--
	}
	if d.above < first || d.above-first >= 1<<(64-8*size) {
		return 0, fmt.Errorf("bitcode: not the shortest ending: %w", ErrMalformed)
	}
	return consumed, nil
}

func decodeExact(words []uint64, src []byte, n, ones int) (int, error) {
	d, err := startExact(words, src, n, ones)
	if err != nil {
		return 0, err
	}
	d.run()
	return d.end()
}
