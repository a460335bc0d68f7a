package bitcode

import "math/bits"

// Array is an array of N bits to be decoded from the start of Src into Words. Ones is the number of bits set.
type Array struct {
	Words   []uint64
	Src     []byte
	N, Ones int
}

// DecodeTwo is [DecodeBits] of two arrays, in less time than one after the other where both have the exact code.
func DecodeTwo(a, b Array) (consumed [2]int, err error) {
	if !a.exact() || !b.exact() {
		if consumed[0], err = DecodeBits(a.Words, a.Src, a.N, a.Ones); err == nil {
			consumed[1], err = DecodeBits(b.Words, b.Src, b.N, b.Ones)
		}
		return consumed, err
	}
	var d, e exactDecoder
	if d, err = startExact(a.Words[:wordsFor(a.N)], a.Src, a.N, a.Ones); err != nil {
		return consumed, err
	}
	if e, err = startExact(b.Words[:wordsFor(b.N)], b.Src, b.N, b.Ones); err != nil {
		return consumed, err
	}
	for d.wordLeft() && e.wordLeft() {
		stepBoth(&d, &e)
	}
	d.run()
	e.run()
	if consumed[0], err = d.end(); err == nil {
		consumed[1], err = e.end()
	}
	return consumed, err
}

// exact reports whether a has the exact code.
func (a *Array) exact() bool {
	return 0 < a.Ones && a.Ones < a.N && a.N <= exactMax && choose(a.N, a.Ones).method == exact
}

// wordLeft reports whether d stands before a word that has zeros enough for it not to end there but by its last one.
func (d *exactDecoder) wordLeft() bool {
	return !d.finished && d.at%64 == 0 && d.n-d.at-d.ones > 64
}

// stepBoth is step of d and of e, which have a word left, until one of them ends. Nothing in one waits for the other.
func stepBoth(d, e *exactDecoder) {
	v, above, ones, left := interval{width: d.width}, d.above, d.ones, d.n-d.at
	w, over, more, rest := interval{width: e.width}, e.above, e.ones, e.n-e.at
	src, read, other, got := d.src, d.read, e.src, e.read
	word, second := uint64(0), uint64(0)
	i := 0
	for end := 64; i < end && ones > 0 && more > 0; i++ {
		part, share := v.few(ones, left), w.few(more, rest)
		left--
		rest--
		if above < part {
			word |= 1 << i
			v.width = part
			ones--
		} else {
			v.width -= part
			above -= part
		}
		if over < share {
			second |= 1 << i
			w.width = share
			more--
		} else {
			w.width -= share
			over -= share
		}
		if v.width < 1<<56 {
			shift := bits.LeadingZeros64(v.width) &^ 7
			above = above<<shift | window(src, read)>>(64-shift)
			v.width <<= shift
			if read += shift / 8; read >= len(src)+8 {
				end = 0
			}
		}
		if w.width < 1<<56 {
			shift := bits.LeadingZeros64(w.width) &^ 7
			over = over<<shift | window(other, got)>>(64-shift)
			w.width <<= shift
			if got += shift / 8; got >= len(other)+8 {
				end = 0
			}
		}
	}
	d.words[d.at/64], e.words[e.at/64] = word, second
	d.width, d.above, d.ones, d.read = v.width, above, ones, read
	e.width, e.above, e.ones, e.read = w.width, over, more, got
	d.at += i
	e.at += i
	d.finished = ones == 0 || read >= len(src)+8
	e.finished = more == 0 || got >= len(other)+8
}
