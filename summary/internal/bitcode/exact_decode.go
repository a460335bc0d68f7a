package bitcode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// The decoder keeps the width of the interval, and the distance of the code value above low. Low itself is needed
// only at the end: it is the code value less that distance. Each bit depends on the last, so the processor mostly
// waits. DecodeSeveral fills the wait by decoding other arrays.

// exactDecoder is the state of decoding an array in the exact code.
type exactDecoder struct {
	words    []uint64
	src      []byte
	n, ones  int // bits of the array; ones not yet decoded
	at       int // bits decoded
	width    uint64
	above    uint64 // the code value less low
	read     int    // bytes of src read into the code value; zeros follow the end of src
	finished bool   // the bits left are all ones or all zeros, or src is used up
}

// window returns the eight bytes of src from index at on, with zeros beyond its end.
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

// step decodes bits up to the end of the current word.
func (d *exactDecoder) step() {
	v, above, ones, left := interval{width: d.width}, d.above, d.ones, d.n-d.at
	n := min(64-d.at%64, left)
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

// settle follows each run of steps: it reads the bytes that the last step did not read, and sets finished.
func (d *exactDecoder) settle() {
	if d.width < 1<<56 {
		shift := bits.LeadingZeros64(d.width) &^ 7
		d.above = d.above<<shift | window(d.src, d.read)>>(64-shift)
		d.width <<= shift
		d.read += shift / 8
	}
	d.finished = d.ones == 0 || d.ones == d.n-d.at || d.read >= len(d.src)+8
}

// end decodes the bits that are left and checks the end of the code. It returns the number of bytes consumed.
func (d *exactDecoder) end() (int, error) {
	for !d.finished {
		d.step()
	}
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
	return d.end()
}
