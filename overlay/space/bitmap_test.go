package space

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBitmap: a bitmap is what a plain set of ranges is, at any depth.
func TestBitmap(t *testing.T) {
	for depth := range MaxBits + 1 {
		rng := rand.New(rand.NewPCG(uint64(depth), 1))
		share := rng.Float64()
		var ranges []Range
		for i := range 1 << depth {
			if r := Around(Place(uint64(i)<<(64-depth)), depth); rng.Float64() < share {
				ranges = append(ranges, r)
			}
		}
		shuffled := slices.Clone(ranges)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		b := NewBitmap(depth, shuffled...)
		if got := slices.Collect(b.All()); !slices.Equal(got, ranges) || b.Len() != len(ranges) || b != NewBitmap(depth, ranges...) {
			t.Fatalf("depth %d: %v, want %v", depth, got, ranges)
		}
		wire := make([]byte, (1<<depth+7)/8)
		for i, r := range ranges {
			if b.Nth(i) != r || !b.Has(r.First()) || !b.Has(r.First()|1<<(63-depth)) {
				t.Fatalf("depth %d: %v is not number %d", depth, r, i)
			}
			at := uint64(r.First()) >> (64 - depth)
			wire[at/8] |= 0x80 >> (at % 8)
		}
		if len(ranges) == 0 {
			wire = nil
		}
		if got := b.Bytes(); !bytes.Equal(got, wire) || (got == nil) != (wire == nil) {
			t.Fatalf("depth %d: %x, want %x", depth, got, wire)
		}
		for range 50 {
			w, rest := Around(Place(rng.Uint64()), rng.IntN(depth+1)), b
			in := b.Within(w)
			rest.Or(in)
			want := slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool { return !w.Covers(r) })
			if got := slices.Collect(in.All()); !slices.Equal(got, want) || rest != b {
				t.Fatalf("depth %d: in %v are %v, want %v", depth, w, got, want)
			}
		}
	}
}
