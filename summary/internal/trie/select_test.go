package trie

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestSelectBit compares with clearing the ones below.
func TestSelectBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		w := rng.Uint64() & (rng.Uint64() | -(rng.Uint64() & 1)) // half or a quarter of the bits set
		for rest, k := w, 0; rest != 0; rest &= rest - 1 {
			if got, want := selectBit(w, k), bits.TrailingZeros64(rest); got != want {
				t.Fatalf("one %d of %#x is at %d, want %d", k, w, got, want)
			}
			k++
		}
	}
	for k := range 64 {
		if got := selectBit(^uint64(0), k); got != k {
			t.Fatalf("one %d of all is at %d", k, got)
		}
	}
}
