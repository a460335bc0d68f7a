package group

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// The slow twin of a table is a map.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	var fast Table[int]
	slow := map[uint64]int{}
	for i := range 5000 {
		tag := rng.Uint64N(300)
		if _, known := slow[tag]; known && i%3 > 0 {
			fast.Remove(tag)
			delete(slow, tag)
		} else {
			fast.Put(tag, i)
			slow[tag] = i
		}
		fast.Remove(300 + tag) // nobody's
		tag = rng.Uint64N(300)
		got, ok := fast.At(tag)
		if want, known := slow[tag]; got != want || ok != known || fast.Len() != len(slow) {
			t.Fatalf("tag %d: %d, %v of %d; want %d, %v of %d", tag, got, ok, fast.Len(), want, known, len(slow))
		}
		var all []int
		for _, tag := range slices.Sorted(maps.Keys(slow)) {
			all = append(all, slow[tag])
		}
		if got := fast.All(); !slices.Equal(got, all) {
			t.Fatalf("%d, want %d", got, all)
		}
	}
}
