package summary

import (
	"math/rand/v2"
	"testing"
)

// slowNext is where the step from a level ends.
func slowNext(n, start, from, final int) int {
	l := layout{start: uint8(start)}
	to := max(from+1, start)
	for to < final && stepBytes(n, l, from, to, 0, 1<<start) < minStepBytes {
		to++
	}
	return to
}

// TestForecast compares the forecast of whole steps with that of any cells.
func TestForecast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 2000 {
		n := rng.IntN(1 << rng.IntN(27))
		f := forecast{n: n}
		for range 5 {
			start := 1 + rng.IntN(26)
			final := start + rng.IntN(maxLevel-start+1)
			from := unknownLevel
			if rng.IntN(2) == 0 {
				from = start + rng.IntN(final-start+1)
			}
			if from >= final {
				continue
			}
			to, bytes := f.next(start, from, final)
			want := slowNext(n, start, from, final)
			if size := stepBytes(n, layout{start: uint8(start)}, from, want, 0, 1<<start); to != want || bytes != size || f.step(start, from, to) != size {
				t.Fatalf("%d keys, start %d, from %d to %d: to %d of %d bytes, want %d of %d", n, start, from, final, to, bytes, want, size)
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

// BenchmarkWorstHeader plans for the header of 1 KiB that takes longest.
func BenchmarkWorstHeader(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		must(NewPlan(1<<16, worstShape(1<<16)))
	}
}
