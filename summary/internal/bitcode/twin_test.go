package bitcode

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"
)

// The slow twins: the same codes from their definitions, with big numbers and plain divisions, a bit or a symbol at a
// time.

func bit(words []uint64, i int) int { return int(words[i/64] >> (i % 64) & 1) }

// slowExact narrows [low, low+width)/2^(8 size) with whole numbers, without ever giving a byte away.
func slowExact(words []uint64, n, ones int) []byte {
	low, width, size := new(big.Int), new(big.Int).SetUint64(^uint64(0)), 8
	floor := new(big.Int).SetUint64(1 << 56)
	for i := 0; ones > 0 && ones < n-i; i++ {
		part := new(big.Int).Div(width, big.NewInt(int64(n-i)))
		part.Mul(part, big.NewInt(int64(ones)))
		if bit(words, i) == 1 {
			width = part
			ones--
		} else {
			low.Add(low, part)
			width.Sub(width, part)
		}
		for width.Cmp(floor) < 0 {
			low.Lsh(low, 8)
			width.Lsh(width, 8)
			size++
		}
	}
	for length := size - 7; ; length++ { // the first that fits
		unit := new(big.Int).Lsh(big.NewInt(1), uint(8*(size-length)))
		v := new(big.Int).Add(low, unit)
		v.Sub(v, big.NewInt(1)).Div(v, unit) // low, rounded up
		end := new(big.Int).Add(v, big.NewInt(1))
		if end.Mul(end, unit).Cmp(new(big.Int).Add(low, width)) <= 0 {
			return v.FillBytes(make([]byte, length))
		}
	}
}

// slowSymbol is one step of a coder: slots start to start+freq-1 of 2^scale, in a lane. look is set where a
// state may give a word away before it.
type slowSymbol struct {
	lane        int
	start, freq uint64
	scale       int
	look        *big.Int // the state from which a word must go, nil for none
}

// slowRANS codes symbols, given in the order in which the decoder gets them.
func slowRANS(symbols []slowSymbol, lanes int) []byte {
	states := make([]*big.Int, lanes)
	for i := range states {
		states[i] = new(big.Int).SetUint64(1 << 31)
	}
	var stream []uint32
	for _, s := range slices.Backward(symbols) {
		x := states[s.lane]
		if s.look != nil && x.Cmp(s.look) >= 0 {
			stream = append(stream, uint32(x.Uint64()))
			x.Rsh(x, 32)
		}
		q, r := new(big.Int).DivMod(x, new(big.Int).SetUint64(s.freq), new(big.Int))
		x.Lsh(q, uint(s.scale)).Add(x, r).Add(x, new(big.Int).SetUint64(s.start))
	}
	var code []byte
	for _, x := range states {
		code = binary.LittleEndian.AppendUint64(code, x.Uint64())
	}
	for _, w := range slices.Backward(stream) {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

// limit is the state from which a word must go before symbols that take a number of slots of 2^scale.
func limit(freq uint64, scale int) *big.Int {
	return new(big.Int).Lsh(new(big.Int).SetUint64(freq), uint(63-scale))
}

func slowBytes(words []uint64, n int, c choice) []byte {
	var f frequencies
	byteFrequencies(&f, c.p>>48)
	var symbols []slowSymbol
	for i := 0; i < n; i += 8 {
		b := 0
		for j := i; j < min(i+8, n); j++ {
			b |= (bit(words, j) ^ int(c.flip&1)) << (j - i)
		}
		s := slowSymbol{start: uint64(f.start[b]), freq: uint64(f.start[b+1] - f.start[b]), scale: 15}
		symbols = append(symbols, s)
	}
	whole := n / 64 * 8 // these bytes go in pairs, those after them one by one in the first lane
	for i := range symbols {
		s := &symbols[i]
		switch {
		case i >= whole:
			s.look = limit(s.freq, 15)
		case i%2 == 1: // put before the other of the pair
			s.lane = i % 8 / 2 % c.lanes
			s.look = limit(s.freq*symbols[i-1].freq, 30)
		default:
			s.lane = i % 8 / 2 % c.lanes
		}
	}
	return slowRANS(symbols, c.lanes)
}

func slowGaps(words []uint64, n int, c choice) []byte {
	var f frequencies
	gapFrequencies(&f, c.p, c.low)
	symbol := func(lane, s int) slowSymbol {
		freq := uint64(f.start[s+1] - f.start[s])
		return slowSymbol{lane, uint64(f.start[s]), freq, 15, limit(freq, 15)}
	}
	var symbols []slowSymbol
	one, gap := 0, 0
	for i := range n {
		if bit(words, i) == int(c.flip&1) {
			gap++
			continue
		}
		lane, upper := one%c.lanes, gap>>c.low
		for ; upper >= f.n-1; upper -= f.n - 1 {
			symbols = append(symbols, symbol(lane, f.n-1))
		}
		symbols = append(symbols, symbol(lane, upper))
		// The low part in pieces of 24 bits from the lowest; the highest piece comes first.
		for at := (c.low - 1) / 24 * 24; at >= 0 && c.low > 0; at -= 24 {
			size := min(24, c.low-at)
			piece := uint64(gap>>at) & (1<<size - 1)
			symbols = append(symbols, slowSymbol{lane, piece, 1, size, limit(1, size)})
		}
		one, gap = one+1, 0
	}
	return slowRANS(symbols, c.lanes)
}

func slowRice(words []uint64, n int, c choice) []byte {
	var code []byte
	size := 0
	put := func(bit int) {
		if size%8 == 0 {
			code = append(code, 0)
		}
		code[size/8] |= byte(bit << (size % 8))
		size++
	}
	gap := 0
	for i := range n {
		if bit(words, i) == int(c.flip&1) {
			gap++
			continue
		}
		for range gap >> c.low {
			put(0)
		}
		put(1)
		for j := range c.low {
			put(gap >> j & 1)
		}
		gap = 0
	}
	return code
}

func slowRaw(words []uint64, n int) []byte {
	code := make([]byte, (n+7)/8)
	for i := range n {
		code[i/8] |= byte(bit(words, i) << (i % 8))
	}
	return code
}

func slowAppendBits(words []uint64, n, ones int) []byte {
	switch c := choose(n, ones); c.method {
	case raw:
		return slowRaw(words, n)
	case exact:
		return slowExact(words, n, ones)
	case inRice:
		return slowRice(words, n, c)
	case inGaps:
		return slowGaps(words, n, c)
	case inBytes:
		return slowBytes(words, n, c)
	}
	return nil
}

// checkTwin compares the fast code with the slow one, and decodes it. It decodes the exact code, too.
func checkTwin(t *testing.T, words []uint64, n int) {
	t.Helper()
	words = slices.Clone(words)
	ones := count(words, n)
	code := AppendBits(nil, words, n, ones)
	if slow := slowAppendBits(words, n, ones); !bytes.Equal(code, slow) {
		t.Fatalf("n=%d ones=%d (%+v):\n%x\nslow:\n%x", n, ones, choose(n, ones), head(code), head(slow))
	}
	if most := choose(n, ones).most; len(code) > most {
		t.Fatalf("n=%d ones=%d: %d bytes, at most %d wanted", n, ones, len(code), most)
	}
	if least := minBytes(n, ones); len(code) < least {
		t.Fatalf("n=%d ones=%d: %d bytes, minBytes %d", n, ones, len(code), least)
	}
	got := make([]uint64, len(words))
	for _, tail := range []string{"", "\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		for i := range got {
			got[i] = 0xdead
		}
		consumed, err := DecodeBits(got, append(slices.Clip(code), tail...), n, ones)
		if n%64 != 0 {
			words[len(words)-1] &= 1<<(n%64) - 1
		}
		if err != nil || consumed != len(code) || !slices.Equal(got, words) {
			t.Fatalf("n=%d ones=%d tail %q: consumed %d of %d: %v", n, ones, tail, consumed, len(code), err)
		}
	}
	code = AppendExact(nil, words, n, ones)
	if consumed, err := DecodeExact(got, append(slices.Clip(code), 1, 2, 3), n, ones); err != nil || consumed != len(code) || !slices.Equal(got, words) {
		t.Fatalf("n=%d ones=%d: consumed %d of %d bytes of the exact code: %v", n, ones, consumed, len(code), err)
	}
	code = AppendBits(nil, words, n, ones)
	for size := range min(len(code), 20) {
		if _, err := DecodeBits(got, code[:len(code)-1-size], n, ones); err == nil {
			t.Fatalf("n=%d ones=%d: accepted with %d bytes cut off", n, ones, size+1)
		}
	}
}

func head(b []byte) []byte { return b[:min(len(b), 64)] }

// shares are the shares of ones, in parts of 2^16, that stand on both sides of every choice.
var shares = []int{
	0, 1, 3, 30, 300, 511, 512, 513, 1000, 3000, 4300, 4368, 4370, 4400, 6000, 9000, 16000, 25000, 31000,
	31500, 31540, 31550, 32000, 32768,
}

func TestTwin(t *testing.T) {
	for _, n := range []int{
		0, 1, 2, 7, 8, 9, 63, 64, 65, 200, 1000, riceFrom, riceFrom + 1, 2047, 12_500, exactMax, exactMax + 1, 20_001, 70_000, 200_003, 1 << 18,
	} {
		for _, share := range shares {
			ones := n * share >> 16
			checkTwin(t, randomBits(n, ones), n)
			checkTwin(t, randomBits(n, n-ones), n)
		}
	}
}

// TestTwinUnlikely codes arrays that no random source would give: all ones together, at either end, or evenly spaced.
func TestTwinUnlikely(t *testing.T) {
	for _, n := range []int{100, 5000, 20_001, 200_003} {
		for _, share := range shares {
			ones := max(n*share>>16, 1)
			for _, place := range []func(i int) int{
				func(i int) int { return i },
				func(i int) int { return n - 1 - i },
				func(i int) int { return i * (n / ones) },
				func(i int) int { return i / 8 * 8 * min(n/ones, 2) / 2 },
			} {
				words := make([]uint64, wordsFor(n))
				for i := range ones {
					p := min(place(i), n-1)
					words[p/64] |= 1 << (p % 64)
				}
				checkTwin(t, words, n)
			}
		}
	}
}

// TestTwinLongGaps codes arrays in the Rice code with one long gap, of up to 89 zeros in unary, after other numbers of
// ones without a gap.
func TestTwinLongGaps(t *testing.T) {
	const n, ones = 12_500, 100
	low := choose(n, ones).low
	for before := range 8 { // seven bits each
		for upper := range 90 {
			words := make([]uint64, wordsFor(n))
			for i := range ones {
				at := i
				if i >= before {
					at += (upper+1)<<low - 1
				}
				words[at/64] |= 1 << (at % 64)
			}
			checkTwin(t, words, n)
		}
	}
}
