package bitcode

import (
	"math/rand/v2"
	"testing"
)

// TestReciprocals compares parts of intervals found by reciprocals with those found by division.
func TestReciprocals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	check := func(width uint64, one, total int) {
		t.Helper()
		if got, want := (interval{0, width}).ones(one, total), width/uint64(total)*uint64(one); got != want {
			t.Fatalf("%d/%d of %#x: %#x, not %#x", one, total, width, got, want)
		}
	}
	for total := 2; total <= exactMax+2; total++ {
		for _, q := range []uint64{1 << 56, ^uint64(0), rng.Uint64() | 1<<56} {
			whole := q / uint64(total) * uint64(total)
			for _, width := range []uint64{q, whole, whole - 1, whole + 1} {
				check(width, 1+rng.IntN(total-1), total)
			}
		}
	}
}
