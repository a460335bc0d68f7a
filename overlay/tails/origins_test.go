package tails

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/summary"
)

// The slow twin of origins is a map.
func TestOrigins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	near := func() uint64 { return rng.Uint64N(300) - 150 } // the first and the last tags
	var fast origins
	slow := map[uint64]origin{}
	for i := range 5000 {
		tag := near()
		if _, known := slow[tag]; !known {
			o := origin{tag: tag, epoch: summary.Epoch{Sequence: uint32(i)}, progress: emptyProgress}
			slow[tag] = o
			if got := fast.add(o); *got != o || got != fast.at(tag) {
				t.Fatalf("added %+v, and %+v is there", o, got)
			}
		} else if i%3 > 0 {
			fast.remove(tag)
			delete(slow, tag)
		}
		tag = near()
		if want, known := slow[tag]; (fast.at(tag) != nil) != known || known && *fast.at(tag) != want {
			t.Fatalf("tag %x: %+v, want %+v", tag, fast.at(tag), want)
		}
		first, last := near(), near()
		var all, between origins
		for _, tag := range slices.Sorted(maps.Keys(slow)) {
			all = append(all, slow[tag])
			if first <= tag && tag <= last {
				between = append(between, slow[tag])
			}
		}
		if !slices.Equal(fast, all) || !slices.Equal(fast.between(first, last), between) {
			t.Fatalf("from %x to %x: %+v of %+v, want %+v of %+v", first, last, fast.between(first, last), fast, between, all)
		}
	}
}
