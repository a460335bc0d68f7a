package summary

import "testing"

// TestOriginTags: the tags of an origin under the numbers of a network differ and lead to each other; that under 0 is the hash alone.
func TestOriginTags(t *testing.T) {
	seen := map[uint64]bool{}
	for _, n := range []uint32{0, 1, 2, 7, 1 << 31, 1<<32 - 1} {
		a := Seed{"x", n}.Tag()
		tag := a.OriginTag("origin")
		if seen[tag] || n == 0 && tag != OriginTag("origin") {
			t.Errorf("number %d: tag %x", n, tag)
		}
		seen[tag] = true
		for _, m := range []uint32{0, 3, 7} {
			b := Seed{"x", m}.Tag()
			if got := a.Rotated(tag, b); got != b.OriginTag("origin") {
				t.Errorf("from %d to %d: tag %x", n, m, got)
			}
		}
		h := Header{Seed: a, Origin: "origin", Epoch: Epoch{1, 2}}
		if g := h.Group(); g.OriginTag() != tag || g.Epoch() != h.Epoch {
			t.Errorf("number %d: group %v", n, g)
		}
	}
}
