package summary

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// countPlans is how many plans are in use for at least a number of keys, and fewer than ten more.
func countPlans(from int) (n int) {
	plans.Range(func(key, _ any) bool {
		if keys := key.(planKey).n; keys >= from && keys < from+10 {
			n++
		}
		return true
	})
	return n
}

// TestPlansAreShared: headers of as many keys in one shape have one plan, others have others, and none stays that
// nobody uses.
func TestPlansAreShared(t *testing.T) {
	const keys = 987_000 // no other test has as many
	of := func(n int, s Shape) *Plan {
		h := Header{N: n, Shape: s}
		return must(h.plan())
	}
	shape := DefaultShape(keys + 1)
	first := of(keys+1, shape)
	if of(keys+1, Shape{Keys: shape.Keys, SampleBytes: shape.SampleBytes, SampleLevel: shape.SampleLevel, Levels: slices.Clone(shape.Levels)}) != first {
		t.Error("two plans of as many keys in equal shapes")
	}
	deeper := shape
	deeper.Levels = []uint8{shape.Levels[0] + 1}
	for _, p := range []*Plan{of(keys+2, shape), of(keys+1, deeper), of(keys+1, DefaultShape(keys+3))} {
		if p == first {
			t.Error("one plan of different headers")
		}
	}
	if _, err := (&Header{N: 1, Shape: Shape{Keys: 1 << 30, Levels: []uint8{1}}}).plan(); err == nil {
		t.Error("a plan of a shape that there cannot be")
	}
	if n := countPlans(keys); n < 1 || n > 4 {
		t.Errorf("%d plans in use, want those of 4 headers at most", n)
	}
	runtime.KeepAlive(first)
	for wait := time.Now().Add(20 * time.Second); countPlans(keys) > 0; {
		if runtime.GC(); time.Now().After(wait) {
			t.Fatalf("%d plans stay", countPlans(keys))
		}
		time.Sleep(time.Millisecond)
	}
}
