package bitcode

import "math/bits"

// Array is an array of N bits to be decoded from the start of Src into Words. Ones is the number of ones.
type Array struct {
	Words   []uint64
	Src     []byte
	N, Ones int
}

// Lanes is the most arrays that [DecodeSeveral] decodes in one call.
const Lanes = 4

// DecodeSeveral does what [DecodeBits] does, for up to Lanes arrays. If all have the exact code, it takes less time
// than decoding one after the other. It returns the number of bytes consumed of each.
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
	if len(arrays) > 1 {
		for i := len(arrays); i < Lanes; i++ {
			lanes[i] = lanes[0] // a copy, which writes the same bits
		}
		stepFour(&lanes)
	}
	for i := range arrays {
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

// exact reports whether a is in the exact code.
func (a *Array) exact() bool {
	return 0 < a.Ones && a.Ones < a.N && a.N <= exactMax && choose(a.N, a.Ones).method == exact
}

// wordLeft reports whether d is at the boundary of a word, and more than 64 zeros are left to decode. Then the next
// word cannot contain the last zero.
func (d *exactDecoder) wordLeft() bool {
	return !d.finished && d.at%64 == 0 && d.n-d.at-d.ones > 64
}

// stepFour does the steps of four decoders, a word at a time. It goes on while all have a word left. No decoder waits
// for the bits of another.
func stepFour(lanes *[Lanes]exactDecoder) {
	d, e, f, g := &lanes[0], &lanes[1], &lanes[2], &lanes[3]
	for d.wordLeft() && e.wordLeft() && f.wordLeft() && g.wordLeft() {
		wordOfFour(lanes, d.word64(), e.word64(), f.word64(), g.word64())
	}
}

// word64 returns the reciprocals for the next 64 bits, the last bit's first.
func (d *exactDecoder) word64() *[64]reciprocal {
	left := d.n - d.at
	return (*[64]reciprocal)(reciprocals[left-63 : left+1])
}

// wordOfFour decodes the next word of four decoders that have a word left. Ones are unpredictable, so no branch
// depends on a bit. Once a decoder has no ones left, further zeros do not change its state.
func wordOfFour(lanes *[Lanes]exactDecoder, r, s, t, u *[64]reciprocal) {
	d, e, f, g := &lanes[0], &lanes[1], &lanes[2], &lanes[3]
	wd, we, wf, wg := d.width, e.width, f.width, g.width
	ad, ae, af, ag := d.above, e.above, f.above, g.above
	od, oe, of, og := uint64(d.ones), uint64(e.ones), uint64(f.ones), uint64(g.ones)
	var xd, xe, xf, xg uint64 // the bits, the first one highest
	for i := 63; i >= 0; i-- {
		var one uint64
		wd, ad, one = narrowed(wd, ad, r[i].of(wd)*od)
		od -= one
		xd = xd<<1 | one
		we, ae, one = narrowed(we, ae, s[i].of(we)*oe)
		oe -= one
		xe = xe<<1 | one
		wf, af, one = narrowed(wf, af, t[i].of(wf)*of)
		of -= one
		xf = xf<<1 | one
		wg, ag, one = narrowed(wg, ag, u[i].of(wg)*og)
		og -= one
		xg = xg<<1 | one
		if wd < 1<<56 {
			wd, ad = d.widened(wd, ad)
		}
		if we < 1<<56 {
			we, ae = e.widened(we, ae)
		}
		if wf < 1<<56 {
			wf, af = f.widened(wf, af)
		}
		if wg < 1<<56 {
			wg, ag = g.widened(wg, ag)
		}
	}
	d.finishWord(wd, ad, od, xd)
	e.finishWord(we, ae, oe, xe)
	f.finishWord(wf, af, of, xf)
	g.finishWord(wg, ag, og, xg)
}

// narrowed returns the interval after one bit, and that bit. A one stands for the lowest part of the interval.
func narrowed(width, above, part uint64) (narrowWidth, narrowAbove, one uint64) {
	_, one = bits.Sub64(above, part, 0)
	rest := width - part
	return rest ^ (rest^part)&-one, above - part&(one-1), one
}

// widened reads the bytes of src that make the interval at least 2^56 wide again.
func (d *exactDecoder) widened(width, above uint64) (wider, further uint64) {
	by := bits.LeadingZeros64(width) &^ 7
	above = above<<by | window(d.src, d.read)>>(64-by)
	d.read += by / 8
	return width << by, above
}

// finishWord ends a step of one word, whose bits come in reverse order.
func (d *exactDecoder) finishWord(width, above, ones, word uint64) {
	d.words[d.at/64] = bits.Reverse64(word)
	d.width, d.above, d.ones = width, above, int(ones)
	d.at += 64
	d.settle()
}
