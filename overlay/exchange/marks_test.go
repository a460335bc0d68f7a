package exchange

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The slow twin of marks is a map.
func TestMarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var m marks
	plain := map[int]bool{}
	for range 2000 {
		i := rng.IntN(300)
		if rng.IntN(2) == 0 {
			m.add(i)
			plain[i] = true
		} else {
			m.add(i)
			m[i] = false
			delete(plain, i)
		}
		from := rng.IntN(400) - 50
		var above, below []int
		for i := range 300 {
			switch {
			case !plain[i]:
			case i > from:
				above = append(above, i)
			default:
				below = append(below, i)
			}
		}
		if got, want := slices.Collect(m.after(max(from, 0))), slices.Concat(above, below); from >= 0 && !slices.Equal(got, want) {
			t.Fatalf("after %d: %v, want %v", from, got, want)
		}
		if m.empty() != (len(plain) == 0) {
			t.Fatalf("empty: %v with %d marked", m.empty(), len(plain))
		}
	}
}
