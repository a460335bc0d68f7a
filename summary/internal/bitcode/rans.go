package bitcode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// This is a range coder of asymmetric numeral systems (rANS, Duda 2013). A symbol of frequency f out of 2^15 takes a
// state x to about x*2^15/f. The decoder reverses that, the last symbol first, so encoding runs backwards. A state
// that would grow beyond its limit first moves its low 32 bits to the stream. A state that falls below stateStart
// takes 32 bits from the stream. It never needs more, because the one or two symbols between two of these checks are
// worth at most 30 bits. All states start at stateStart, and the decoder checks that they end there. This and the
// ranges of the states make the code a bijection. Several lanes keep the processor busy.
//
// A code is the last state of each lane (8 bytes, little endian), then the stream (little endian words of 32 bits).

const (
	scaleBits  = 15
	scale      = 1 << scaleBits
	stateBits  = 63
	wordBits   = 32
	wordBytes  = wordBits / 8
	stateBytes = 8
	stateStart = uint64(1) << (stateBits - wordBits)
	maxLanes   = 4
)

// symbol is a symbol prepared for the encoder, so that it needs no division.
type symbol struct {
	reciprocal uint64 // 2^(64+shift)/freq, rounded up
	start      uint64
	freq       uint32
	rest       uint16 // scale - freq
	shift      uint8  // the number of bits of freq-1, less one
}

func newSymbol(start, freq uint64) symbol {
	s := symbol{freq: uint32(freq), rest: uint16(scale - freq), start: start}
	if freq == 1 { // 2^64 does not fit, and 2^64-1 makes the quotient one too small; start makes up for it
		s.reciprocal, s.start = ^uint64(0), start+scale-1
		return s
	}
	s.shift = uint8(bits.Len64(freq-1)) - 1
	q, r := bits.Div64(1<<s.shift, 0, freq)
	if r > 0 {
		q++
	}
	s.reciprocal = q
	return s
}

// push returns the state after the symbol: x/freq*scale + x%freq + start. x must be below
// freq<<(stateBits-scaleBits).
func (s *symbol) push(x uint64) uint64 {
	q, _ := bits.Mul64(x, s.reciprocal)
	return x + s.start + q>>(s.shift&63)*uint64(s.rest)
}

// encoder writes a code from its end to its start, into buf. At position 0 buf is full.
type encoder struct {
	state [maxLanes]uint64
	buf   []byte
	pos   int
}

func newEncoder(buf []byte) encoder {
	return encoder{[maxLanes]uint64{stateStart, stateStart, stateStart, stateStart}, buf, len(buf)}
}

func (e *encoder) put(lane int, s *symbol) {
	x := e.shrink(e.state[lane], uint64(s.freq)<<(stateBits-scaleBits))
	e.state[lane] = s.push(x)
}

// putPair encodes two symbols with one check of the state. The decoder returns them in the same order.
func (e *encoder) putPair(lane int, first, second *symbol) {
	x := e.shrink(e.state[lane], uint64(first.freq)*uint64(second.freq)<<(stateBits-2*scaleBits))
	e.state[lane] = first.push(second.push(x))
}

// putBits encodes v, which must be below 2^n, as one of 2^n equally likely values. n is at most 31.
func (e *encoder) putBits(lane int, v uint64, n int) {
	e.state[lane] = e.shrink(e.state[lane], 1<<(stateBits-n))<<n | v
}

// shrink moves the low bits of a state to the stream if the state is not below limit.
func (e *encoder) shrink(x, limit uint64) uint64 {
	if x >= limit {
		e.pos -= wordBytes
		binary.LittleEndian.PutUint32(e.buf[e.pos:], uint32(x))
		x >>= wordBits
	}
	return x
}

// finish writes the states before the stream, and returns the code.
func (e *encoder) finish(lanes int) []byte {
	for lane := lanes - 1; lane >= 0; lane-- {
		e.pos -= stateBytes
		binary.LittleEndian.PutUint64(e.buf[e.pos:], e.state[lane])
	}
	return e.buf[e.pos:]
}

// decoder reads a code. Past the end of src it reads zeros, and pos is then beyond src.
type decoder struct {
	state [maxLanes]uint64
	src   []byte
	pos   int
}

// newDecoder reads the states. It is an error if one is missing or out of range.
func newDecoder(src []byte, lanes int) (d decoder, err error) {
	if len(src) < lanes*stateBytes {
		return d, fmt.Errorf("bitcode: %d bytes for %d states: %w", len(src), lanes, ErrMalformed)
	}
	d.src, d.pos = src, lanes*stateBytes
	for lane := range lanes {
		x := binary.LittleEndian.Uint64(src[lane*stateBytes:])
		if x < stateStart || x>>stateBits != 0 {
			return d, fmt.Errorf("bitcode: state %#x: %w", x, ErrMalformed)
		}
		d.state[lane] = x
	}
	return d, nil
}

func (d *decoder) get(lane int, t *table) uint64 {
	x, s := t.pop(d.state[lane])
	d.state[lane] = d.grow(x)
	return s
}

func (d *decoder) getPair(lane int, t *table) (first, second uint64) {
	x, first := t.pop(d.state[lane])
	x, second = t.pop(x)
	d.state[lane] = d.grow(x)
	return first, second
}

func (d *decoder) getBits(lane, n int) uint64 {
	x := d.state[lane]
	d.state[lane] = d.grow(x >> n)
	return x & (1<<n - 1)
}

func (d *decoder) grow(x uint64) uint64 {
	if x < stateStart {
		x <<= wordBits
		if d.pos+wordBytes <= len(d.src) {
			x |= uint64(binary.LittleEndian.Uint32(d.src[d.pos:]))
		}
		d.pos += wordBytes
	}
	return x
}

// done returns the number of bytes consumed. It is an error if decoding did not end as it must: nothing read past the
// end, all lanes back at stateStart.
func (d *decoder) done(lanes int) (consumed int, err error) {
	for _, x := range d.state[:lanes] {
		if x != stateStart || d.pos > len(d.src) {
			return 0, fmt.Errorf("bitcode: states do not end where they start: %w", ErrMalformed)
		}
	}
	return d.pos, nil
}

// table holds the frequencies for the decoder: the symbol of each slot of the scale, and for each symbol its number
// of slots and its first slot. The latter turns a slot into a number among the slots of its symbol.
type table struct {
	symbol [scale]byte
	freq   [256]uint16
	back   [256]uint16 // the first slot of each symbol
}

// pop returns the symbol on top of state x, and the state below it, which may lack bits that the stream has.
func (t *table) pop(x uint64) (below, s uint64) {
	slot := x % scale
	s = uint64(t.symbol[slot])
	return uint64(t.freq[s])*(x/scale) + (slot - uint64(t.back[s])), s
}

// frequencies divides scale slots among n symbols. Symbol s has start[s+1]-start[s] of them: at least one if the
// symbol can occur.
type frequencies struct {
	start [257]uint16
	n     int // number of symbols
}

func (f *frequencies) symbols(s *[256]symbol) {
	for i := range f.n {
		s[i] = newSymbol(uint64(f.start[i]), uint64(f.start[i+1]-f.start[i]))
	}
}

func (f *frequencies) table(t *table) {
	for i := range f.n {
		slots := t.symbol[f.start[i]:f.start[i+1]]
		slots[0] = byte(i)
		for filled := 1; filled < len(slots); filled *= 2 {
			copy(slots[filled:], slots[:filled])
		}
		t.freq[i], t.back[i] = f.start[i+1]-f.start[i], f.start[i]
	}
}
