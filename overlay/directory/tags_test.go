package directory

import (
	"math/rand/v2"
	"testing"
)

// The slow twin of the indexes by tags is a map.
func TestTags(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	var fast tags
	slow := map[uint64]int{}
	for i := range 5000 {
		tag := rng.Uint64N(300)
		if _, known := slow[tag]; known {
			fast.remove(tag)
			delete(slow, tag)
		} else {
			fast.put(tag, int32(i))
			slow[tag] = i
		}
		fast.remove(300 + tag) // nobody's
		tag = rng.Uint64N(300)
		got, ok := fast.index(tag)
		if want, known := slow[tag]; got != want || ok != known || fast.len() != len(slow) {
			t.Fatalf("tag %d: %d, %v of %d; want %d, %v of %d", tag, got, ok, fast.len(), want, known, len(slow))
		}
	}
}
