package bitcode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// The gap code, for arrays with few ones, codes the number of zeros before every one, which is geometrically
// distributed. A gap is cut into a low part and an upper part. The low part has c.low bits, so few that its values
// are nearly equally likely. The upper part is again geometrically distributed, and coded as a symbol. The last
// symbol of the alphabet means "at least this much, continued". A geometric variable has no memory, so the same
// alphabet codes what follows.

// gapFrequencies sets the frequencies of the upper parts of gaps if bits are one with probability p/2^64. The
// alphabet ends where symbols become too rare for the scale.
func gapFrequencies(f *frequencies, p uint64, low int) {
	q := zerosFollow(p, low)
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
	gapFrequencies(&f, c.p, c.low)
	dst, buf := room(dst, c.most)
	g := gapEncoder{encoder: newEncoder(buf), more: f.n - 1, low: c.low, lanes: c.lanes, ones: c.few}
	f.symbols(&g.symbols)
	var gaps [256]int // gaps before the last ones read, from the end of the array on
	held, above := 0, -1
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
				gaps[held&0xff] = above - place - 1
				held++
			}
			above = place
		}
		if held > len(gaps)-64 {
			g.putGaps(gaps[:held])
			held = 0
		}
	}
	gaps[held] = above
	g.putGaps(gaps[:held+1])
	return append(dst, g.finish(c.lanes)...)
}

type gapEncoder struct {
	encoder
	symbols          [256]symbol
	more, low, lanes int
	ones             int // ones whose gaps are not encoded yet
}

func (g *gapEncoder) putGaps(gaps []int) {
	for len(gaps) > 0 {
		if g.lanes == maxLanes && g.low == 0 && g.ones%maxLanes == 0 {
			gaps = gaps[g.putFours(gaps):]
		}
		if len(gaps) > 0 {
			g.putGap(gaps[0])
			gaps = gaps[1:]
		}
	}
}

func (g *gapEncoder) putGap(gap int) {
	g.ones--
	lane, upper := g.ones%g.lanes, gap>>g.low
	g.putLow(lane, uint64(gap), g.low)
	g.put(lane, &g.symbols[upper%g.more])
	for range upper / g.more {
		g.put(lane, &g.symbols[g.more])
	}
}

// putFours encodes groups of four gaps with four lanes, as long as no gap needs the symbol for more. It returns the
// number of gaps encoded.
func (g *gapEncoder) putFours(gaps []int) int {
	x0, x1, x2, x3 := g.state[0], g.state[1], g.state[2], g.state[3]
	buf, pos, more := g.buf, g.pos, g.more
	step := func(x uint64, gap int) uint64 {
		s := &g.symbols[gap&0xff]
		if x >= uint64(s.freq)<<(stateBits-scaleBits) {
			pos -= wordBytes
			binary.LittleEndian.PutUint32(buf[pos:], uint32(x))
			x >>= wordBits
		}
		return s.push(x)
	}
	i := 0
	for ; i+maxLanes <= len(gaps); i += maxLanes {
		four := gaps[i : i+maxLanes]
		if max(four[0], four[1], four[2], four[3]) >= more {
			break
		}
		x3 = step(x3, four[0])
		x2 = step(x2, four[1])
		x1 = step(x1, four[2])
		x0 = step(x0, four[3])
	}
	g.state, g.pos = [maxLanes]uint64{x0, x1, x2, x3}, pos
	g.ones -= i
	return i
}

func decodeGaps(words []uint64, src []byte, n int, c choice) (int, error) {
	var f frequencies
	d, err := newDecoder(src, c.lanes)
	if err != nil {
		return 0, err
	}
	gapFrequencies(&f, c.p, c.low)
	g := gapDecoder{decoder: d, more: uint64(f.n - 1), low: c.low, lanes: c.lanes, end: uint64(n)}
	f.table(&g.table)
	fill(words, n, c.flip != 0)
	for g.ones < c.few && g.pos <= len(src) {
		if g.lanes == maxLanes && g.low == 0 && g.ones%maxLanes == 0 {
			g.getFours(words, c.few)
		}
		if g.ones < c.few && !g.getOne(words) {
			return 0, fmt.Errorf("bitcode: a bit after the last: %w", ErrMalformed)
		}
	}
	return g.done(c.lanes)
}

type gapDecoder struct {
	decoder
	table      table
	more       uint64
	low, lanes int
	ones       int    // ones decoded so far
	at, end    uint64 // the place after the last one decoded, and the place after the last bit
}

// getOne decodes a gap and flips the bit after it. It returns false if the array has no such bit.
func (g *gapDecoder) getOne(words []uint64) bool {
	lane := g.ones % g.lanes
	s := g.get(lane, &g.table)
	for ; s == g.more && g.at < g.end && g.pos <= len(g.src); s = g.get(lane, &g.table) {
		g.at += s << g.low
	}
	g.at += s<<g.low + g.getLow(lane, g.low)
	if g.at >= g.end {
		return false
	}
	words[g.at/64] ^= 1 << (g.at % 64)
	g.at++
	g.ones++
	return true
}

// getFours decodes groups of four ones with four lanes. It goes on while no gap needs the symbol for more, all ones
// lie inside the array, and src is long enough.
func (g *gapDecoder) getFours(words []uint64, few int) {
	x0, x1, x2, x3 := g.state[0], g.state[1], g.state[2], g.state[3]
	src, pos, t := g.src, g.pos, &g.table
	at, ones := g.at, g.ones
	for ; ones+maxLanes <= few && pos+maxLanes*wordBytes <= len(src); ones += maxLanes {
		y0, s0 := t.pop(x0)
		y1, s1 := t.pop(x1)
		y2, s2 := t.pop(x2)
		y3, s3 := t.pop(x3)
		p0 := at + s0
		p1 := p0 + 1 + s1
		p2 := p1 + 1 + s2
		p3 := p2 + 1 + s3
		if max(s0, s1, s2, s3) == g.more || p3 >= g.end {
			break
		}
		at = p3 + 1
		words[p0/64] ^= 1 << (p0 % 64)
		words[p1/64] ^= 1 << (p1 % 64)
		words[p2/64] ^= 1 << (p2 % 64)
		words[p3/64] ^= 1 << (p3 % 64)
		var low uint64
		next := binary.LittleEndian.Uint64(src[pos:])
		x0, low = take(y0, next)
		pos += int(low & wordBytes)
		x1, low = take(y1, next>>(low&wordBits))
		pos += int(low & wordBytes)
		next = binary.LittleEndian.Uint64(src[pos:])
		x2, low = take(y2, next)
		pos += int(low & wordBytes)
		x3, low = take(y3, next>>(low&wordBits))
		pos += int(low & wordBytes)
	}
	g.state, g.pos = [maxLanes]uint64{x0, x1, x2, x3}, pos
	g.at, g.ones = at, ones
}

// pieceBits is the most bits of a low part that are encoded at once.
const pieceBits = 24

// putLow encodes the low n bits of v, in pieces that a state can hold.
func (e *encoder) putLow(lane int, v uint64, n int) {
	for ; n > 0; n -= pieceBits {
		size := min(n, pieceBits)
		e.putBits(lane, v&(1<<size-1), size)
		v >>= size
	}
}

// getLow decodes what putLow encoded. putLow encodes the highest piece last, so it comes first.
func (d *decoder) getLow(lane, n int) (v uint64) {
	for n > 0 {
		size := (n-1)%pieceBits + 1
		v = v<<size | d.getBits(lane, size)
		n -= size
	}
	return v
}
