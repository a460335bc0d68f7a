package room

import (
	"slices"
	"testing"
)

// TestRoom: slices that grow and shrink keep their elements, and have little room to spare.
func TestRoom(t *testing.T) {
	var s, want []int
	for i := range 1000 {
		s, want = append(Grow(s), i), append(want, i)
		if n := len(s); cap(s) > n+n/8+1 {
			t.Fatalf("room for %d of %d", cap(s), n)
		}
	}
	if !slices.Equal(s, want) {
		t.Fatal("elements were lost as it grew")
	}
	for len(s) > 1 {
		s, want = Shrink(s[:len(s)-1]), want[:len(want)-1]
		if n := len(s); cap(s) > 4*n+3 {
			t.Fatalf("room for %d of %d", cap(s), n)
		}
		if !slices.Equal(s, want) {
			t.Fatalf("of %d elements some were lost", len(want))
		}
	}
	if s = Shrink(s[:0]); s != nil {
		t.Errorf("room for %d of none", cap(s))
	}
	if full := make([]int, 8); &Grow(full[:7])[0] != &full[0] || &Shrink(full[:2])[0] != &full[0] {
		t.Error("a slice with enough room, or little to spare, was copied")
	}
}
