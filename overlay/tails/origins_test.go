package tails

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The slow twin of the origins by their tags is a map.
func TestOrigins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	var s origins
	plain := map[uint64]*origin{}
	for range 3000 {
		tag := rng.Uint64N(3)<<40 | rng.Uint64N(40) // three prefixes
		if o := plain[tag]; o != nil {
			s.remove(tag)
			delete(plain, tag)
		} else {
			o = &origin{tag: tag}
			s.put(o)
			plain[tag] = o
		}
		s.remove(5<<40 | tag) // nobody's
		at := rng.Uint64N(3)<<40 | rng.Uint64N(40)
		if s.at(at) != plain[at] || len(s.list) != len(plain) {
			t.Fatalf("tag %x: %p of %d origins, want %p of %d", at, s.at(at), len(s.list), plain[at], len(plain))
		}
		var want []uint64
		for tag := range plain {
			if prefixOf(tag) == prefixOf(at) {
				want = append(want, tag)
			}
		}
		slices.Sort(want)
		got := s.tagged(prefixOf(at))
		if !slices.EqualFunc(got, want, func(o *origin, tag uint64) bool { return o.tag == tag }) {
			t.Fatalf("%d origins with the prefix of %x, want %x", len(got), at, want)
		}
	}
}
