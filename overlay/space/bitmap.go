package space

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// MaxBits is the greatest depth of the ranges in a [Bitmap].
const MaxBits = 10

// Bitmap is a set of ranges of one depth, at most [MaxBits], with one bit for each. It always takes 136 bytes. Equal
// bitmaps hold the same ranges. Make one with [NewBitmap].
type Bitmap struct {
	words [1 << MaxBits / 64]uint64 // the first range is the highest bit of the first word
	depth uint8
}

// NewBitmap returns a bitmap of some ranges of a depth. The depth is limited to [0, MaxBits].
func NewBitmap(depth int, ranges ...Range) Bitmap {
	b := Bitmap{depth: uint8(min(max(depth, 0), MaxBits))}
	for _, r := range ranges {
		b.Add(r)
	}
	return b
}

// bit returns the number of the range that holds a place.
func (b *Bitmap) bit(at Place) int { return int(at >> (64 - b.depth)) }

// at returns the range with the given number.
func (b *Bitmap) at(bit int) Range { return Range{Place(uint64(bit) << (64 - b.depth)), b.depth} }

// Add adds the range of the bitmap's depth around the first place of r.
func (b *Bitmap) Add(r Range) {
	i := b.bit(r.first)
	b.words[i/64] |= 1 << (63 - i%64)
}

// Has reports whether the bitmap holds the range around a place.
func (b *Bitmap) Has(at Place) bool {
	i := b.bit(at)
	return b.words[i/64]>>(63-i%64)&1 == 1
}

// Len returns the number of ranges.
func (b *Bitmap) Len() int {
	n := 0
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the ranges in order.
func (b *Bitmap) All() iter.Seq[Range] {
	return func(yield func(Range) bool) {
		for i, w := range b.words {
			for ; w != 0; w &^= 1 << 63 >> bits.LeadingZeros64(w) {
				if !yield(b.at(64*i + bits.LeadingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Within returns the bitmap of the ranges that lie in r. r must not be deeper than the bitmap.
func (b *Bitmap) Within(r Range) Bitmap {
	in := Bitmap{depth: b.depth}
	first := b.bit(r.first)
	last := first + 1<<(b.depth-r.depth) - 1
	copy(in.words[first/64:last/64+1], b.words[first/64:])
	in.words[first/64] &= ^uint64(0) >> (first % 64)
	in.words[last/64] &^= 1<<(63-last%64) - 1
	return in
}

// Nth returns the nth range in order, counted from 0. It panics if there are no more than n.
func (b *Bitmap) Nth(n int) Range {
	for r := range b.All() {
		if n--; n < 0 {
			return r
		}
	}
	panic("space: a bitmap has fewer ranges")
}

// Or adds all ranges of another bitmap of the same depth.
func (b *Bitmap) Or(other Bitmap) {
	for i, w := range other.words {
		b.words[i] |= w
	}
}

// Bytes returns one bit for each range of the depth, the first range in the highest bit. For an empty bitmap it
// returns nil.
func (b *Bitmap) Bytes() []byte {
	if *b == (Bitmap{depth: b.depth}) {
		return nil
	}
	var out []byte
	for _, w := range b.words {
		out = binary.BigEndian.AppendUint64(out, w)
	}
	return out[:(1<<b.depth+7)/8]
}
