package summary

import (
	"crypto/ed25519"
	"math/rand/v2"
	"testing"
)

// TestForecast compares a forecast that has computed other levels with new ones, for all of hash space and for a part.
func TestForecast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 2000 {
		start := 1 + rng.IntN(26)
		fresh := forecast{n: rng.IntN(1 << rng.IntN(27)), cells: 1 + rng.IntN(1<<start), cut: start}
		if rng.IntN(2) == 0 {
			fresh.cells, fresh.cut = 1, 0
		}
		f := fresh
		for range 5 {
			final := start + rng.IntN(maxLevel-start+1)
			from := unknownLevel
			if rng.IntN(2) == 0 {
				from = start + rng.IntN(final-start+1)
			}
			if from >= final {
				continue
			}
			want, size := max(from+1, start), 0
			for ; ; want++ {
				now := fresh
				if size = now.step(start, from, want); want == final || size >= minStepBytes {
					break
				}
			}
			if to, bytes := f.next(start, from, final); to != want || bytes != size {
				t.Fatalf("%d keys, %d cells of level %d, from %d to %d: to %d of %d bytes, want %d of %d", f.n, f.cells, f.cut, from, final, to, bytes, want, size)
			}
		}
	}
}

// worstShape has as many and as deep blocks as a header may ask for.
func worstShape(n int) Shape {
	s := Shape{Keys: n}
	for range maxBlocks {
		s.Levels = append(s.Levels, uint8(min(maxLevel, ceilLog2(n)+maxDepth)))
	}
	return s
}

// BenchmarkWorstHeader plans for the header of 1 KiB that takes longest, beside the check of its signature.
func BenchmarkWorstHeader(b *testing.B) {
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(NewPlan(1<<16, worstShape(1<<16)))
		}
	})
	b.Run("signature", func(b *testing.B) {
		key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
		header := make([]byte, 1024)
		signature := ed25519.Sign(key, header)
		for b.Loop() {
			if !ed25519.Verify(key.Public().(ed25519.PublicKey), header, signature) {
				b.Fatal("refused")
			}
		}
	})
}
