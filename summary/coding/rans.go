package coding

import (
	"encoding/binary"
	"math/bits"
)

// A range coder of asymmetric numeral systems (rANS, Duda 2013). A symbol of frequency f out of 2^15 takes a state x to
// about x*2^15/f, and the decoder takes it back, last symbol first; so encoding runs backwards. A state that would grow past
// stateLimit gives its low 16 bits to the stream, one that falls below stateStart takes 16 bits from it: never more, for a
// symbol is worth at most 15. All states start at stateStart, and the decoder demands to find them there again: together
// with the ranges that makes the code a bijection. Several lanes, used in turn, keep the processor busy.
//
// A code is the last state of each lane (5 bytes, little endian), then the stream.

const (
	scaleBits  = 15
	scale      = 1 << scaleBits
	stateBits  = 40
	stateBytes = stateBits / 8
	stateStart = uint64(1) << (stateBits - 16)
	stateLimit = uint64(1) << stateBits
	maxLanes   = 4
)

// symbol is what the encoder needs of one symbol to do without a division.
type symbol struct {
	reciprocal uint64 // 2^64/freq, rounded up
	limit      uint64 // the state from which 16 bits must go before the symbol comes
	rest       uint64 // scale - freq
	start      uint64
}

func newSymbol(start, freq uint64) symbol {
	s := symbol{limit: freq << (stateBits - scaleBits), rest: scale - freq, start: start}
	if freq == 1 { // 2^64 does not fit: take one less, which makes the quotient one too small, and add what that loses
		s.reciprocal, s.start = ^uint64(0), start+scale-1
		return s
	}
	s.reciprocal = ^uint64(0)/freq + 1
	return s
}

// push returns the state after the symbol: x/freq*scale + x%freq + start. x is below limit.
func (s *symbol) push(x uint64) uint64 {
	q, _ := bits.Mul64(x, s.reciprocal)
	return x + s.start + q*s.rest
}

// encoder writes a code from its end to its start: into buf, which is full at position 0.
type encoder struct {
	state [maxLanes]uint64
	buf   []byte
	pos   int
}

func newEncoder(buf []byte) encoder {
	return encoder{[maxLanes]uint64{stateStart, stateStart, stateStart, stateStart}, buf, len(buf)}
}

func (e *encoder) put(lane int, s *symbol) {
	e.state[lane] = s.push(e.shrink(e.state[lane], s.limit))
}

// putBits puts the low n bits of v, at most 15, each as likely as the other.
func (e *encoder) putBits(lane int, v uint64, n int) {
	e.state[lane] = e.shrink(e.state[lane], 1<<(stateBits-n))<<n | v
}

func (e *encoder) shrink(x, limit uint64) uint64 {
	if x >= limit {
		e.pos -= 2
		binary.LittleEndian.PutUint16(e.buf[e.pos:], uint16(x))
		x >>= 16
	}
	return x
}

// finish writes the states in front and returns the code.
func (e *encoder) finish(lanes int) []byte {
	for lane := lanes - 1; lane >= 0; lane-- {
		e.pos -= stateBytes
		x := e.state[lane]
		binary.LittleEndian.PutUint32(e.buf[e.pos:], uint32(x))
		e.buf[e.pos+4] = byte(x >> 32)
	}
	return e.buf[e.pos:]
}

// decoder reads a code. Past the end of src it reads zeros, and pos shows it.
type decoder struct {
	state [maxLanes]uint64
	src   []byte
	pos   int
}

// newDecoder reads the states; ok is false if they are not all there and in range.
func newDecoder(src []byte, lanes int) (d decoder, ok bool) {
	if len(src) < lanes*stateBytes {
		return d, false
	}
	d.src = src
	for lane := range lanes {
		s := src[lane*stateBytes:]
		d.state[lane] = uint64(binary.LittleEndian.Uint32(s)) | uint64(s[4])<<32
		if d.state[lane] < stateStart {
			return d, false
		}
	}
	d.pos = lanes * stateBytes
	return d, true
}

func (d *decoder) get(lane int, t *table) byte {
	x := d.state[lane]
	slot := x % scale
	s := t.symbol[slot]
	d.state[lane] = d.grow(uint64(t.freq[s])*(x/scale) + slot - uint64(t.start[s]))
	return s
}

func (d *decoder) getBits(lane, n int) uint64 {
	x := d.state[lane]
	d.state[lane] = d.grow(x >> n)
	return x & (1<<n - 1)
}

func (d *decoder) grow(x uint64) uint64 {
	if x < stateStart {
		x <<= 16
		if d.pos+2 <= len(d.src) {
			x |= uint64(binary.LittleEndian.Uint16(d.src[d.pos:]))
		}
		d.pos += 2
	}
	return x
}

// done tells whether all went as an encoder would have it: nothing read past the end, all lanes back where they start.
func (d *decoder) done(lanes int) bool {
	for _, x := range d.state[:lanes] {
		if x != stateStart {
			return false
		}
	}
	return d.pos <= len(d.src)
}

// table is the decoder's view of the frequencies: which symbol a slot of the scale belongs to, and where its slots lie.
type table struct {
	symbol [scale]byte
	freq   [256]uint16
	start  [256]uint16
}

// frequencies holds the slots of every symbol, scale in all, at least one for each that can occur; symbol s has
// start[s+1]-start[s] of them.
type frequencies struct {
	start [257]uint16
	n     int // symbols
}

func (f *frequencies) symbols(s *[256]symbol) {
	for i := range f.n {
		s[i] = newSymbol(uint64(f.start[i]), uint64(f.start[i+1]-f.start[i]))
	}
}

func (f *frequencies) table(t *table) {
	for i := range f.n {
		slots := t.symbol[f.start[i]:f.start[i+1]]
		for j := range slots {
			slots[j] = byte(i)
		}
		t.start[i], t.freq[i] = f.start[i], f.start[i+1]-f.start[i]
	}
}
