package bitcode

import (
	"encoding/binary"
	"math/bits"
)

// Array is an array of N bits to be decoded from the start of Src into Words. Ones is the number of bits set.
type Array struct {
	Words   []uint64
	Src     []byte
	N, Ones int
}

// Lanes is how many arrays [DecodeSeveral] takes at most.
const Lanes = 4

// DecodeSeveral is [DecodeBits] of up to Lanes arrays, in less time than one after the other where all have the exact
// code. It returns the bytes consumed of each.
func DecodeSeveral(arrays []Array) (consumed [Lanes]int, err error) {
	for i := range arrays {
		if !arrays[i].exact() {
			return decodeEach(arrays)
		}
	}
	var lanes [Lanes]exactDecoder
	for i, a := range arrays {
		if lanes[i], err = startExact(a.Words[:wordsFor(a.N)], a.Src, a.N, a.Ones); err != nil {
			return consumed, err
		}
	}
	if len(arrays) == Lanes && lanes[0].chunk() > 0 {
		skipFour(&lanes)
	}
	for i := 1; i < len(arrays); i += 2 {
		stepBoth(&lanes[i-1], &lanes[i])
	}
	for i := range arrays {
		lanes[i].run()
		if consumed[i], err = lanes[i].end(); err != nil {
			return consumed, err
		}
	}
	return consumed, nil
}

// decodeEach decodes one array after the other.
func decodeEach(arrays []Array) (consumed [Lanes]int, err error) {
	for i, a := range arrays {
		if consumed[i], err = DecodeBits(a.Words, a.Src, a.N, a.Ones); err != nil {
			return consumed, err
		}
	}
	return consumed, nil
}

// exact reports whether a has the exact code.
func (a *Array) exact() bool {
	return 0 < a.Ones && a.Ones < a.N && a.N <= exactMax && choose(a.N, a.Ones).method == exact
}

// wordLeft reports whether d stands before a word that has zeros enough for it not to end there but by its last one.
func (d *exactDecoder) wordLeft() bool {
	return !d.finished && d.at%64 == 0 && d.n-d.at-d.ones > 64
}

// skipFour passes bits of four decoders as long as ones are rare in all and there is room. Nothing in one waits for
// another.
func skipFour(lanes *[Lanes]exactDecoder) {
	d, e, f, g := &lanes[0], &lanes[1], &lanes[2], &lanes[3]
	n := min(d.chunk(), e.chunk(), f.chunk(), g.chunk())
	for d.room(n) && e.room(n) && f.room(n) && g.room(n) {
		r, first := d.reciprocals(n)
		s, second := e.reciprocals(n)
		t, third := f.reciprocals(n)
		u, fourth := g.reciprocals(n)
		if min(first, second, third, fourth) < 0 {
			for i := range lanes {
				lanes[i].step(n)
			}
			continue
		}
		s, t, u = s[:len(r)], t[:len(r)], u[:len(r)]
		wd, we, wf, wg := d.width, e.width, f.width, g.width
		od, oe, of, og := uint64(d.ones), uint64(e.ones), uint64(f.ones), uint64(g.ones)
		for i := len(r) - 1; i >= 0; i-- {
			wd -= r[i].of(wd, first) * od
			we -= s[i].of(we, second) * oe
			wf -= t[i].of(wf, third) * of
			wg -= u[i].of(wg, fourth) * og
		}
		d.skip(n, wd)
		e.skip(n, we)
		f.skip(n, wf)
		g.skip(n, wg)
	}
}

// stepBoth is step of d and of e, a word at a time, as long as both have one with zeros enough not to end there but by
// their last one. Nothing in one waits for the other.
func stepBoth(d, e *exactDecoder) {
	for d.wordLeft() && e.wordLeft() {
		r, first := d.reciprocals(64)
		s, second := e.reciprocals(64)
		if min(first, second) < 0 {
			d.step(64)
			e.step(64)
			continue
		}
		wordOfBoth(d, e, (*[64]reciprocal)(r), (*[64]reciprocal)(s), first, second)
	}
}

// wordOfBoth is step of d and of e, which have a word left, until one of them ends or has few bytes left.
func wordOfBoth(d, e *exactDecoder, r, s *[64]reciprocal, first, second int) {
	width, above, ones := d.width, d.above, uint64(d.ones)
	other, over, more := e.width, e.above, uint64(e.ones)
	word, next := uint64(0), uint64(0) // from the top
	i := 63
	for ; i >= 0 && ones > 0 && more > 0; i-- {
		part, share := r[i].of(width, first)*ones, s[i].of(other, second)*more
		word >>= 1
		next >>= 1
		if above < part {
			word |= 1 << 63
			width = part
			ones--
		} else {
			width -= part
			above -= part
		}
		if over < share {
			next |= 1 << 63
			other = share
			more--
		} else {
			other -= share
			over -= share
		}
		if width < 1<<56 {
			if d.read+8 > len(d.src) {
				i--
				break
			}
			shift := bits.LeadingZeros64(width) &^ 7
			above = above<<shift | binary.BigEndian.Uint64(d.src[d.read:])>>(64-shift)
			width <<= shift
			d.read += shift / 8
		}
		if other < 1<<56 {
			if e.read+8 > len(e.src) {
				i--
				break
			}
			shift := bits.LeadingZeros64(other) &^ 7
			over = over<<shift | binary.BigEndian.Uint64(e.src[e.read:])>>(64-shift)
			other <<= shift
			e.read += shift / 8
		}
	}
	d.words[d.at/64], e.words[e.at/64] = word>>(i+1), next>>(i+1)
	d.width, d.above, d.ones = width, above, int(ones)
	e.width, e.above, e.ones = other, over, int(more)
	d.at += 63 - i
	e.at += 63 - i
	d.settle()
	e.settle()
}
