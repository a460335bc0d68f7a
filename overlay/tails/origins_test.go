package tails

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/summary"
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

// TestEarlyIsCheap: while there is room for early items, from whichever links, it makes nothing to keep one.
func TestEarlyIsCheap(t *testing.T) {
	m := &Machine{now: time.Second, early: make([]early, 0, maxTold)}
	from, n := namesOf(20), 0
	made := testing.AllocsPerRun(maxTold-1, func() { // and once before
		n++
		m.keep(from[n%len(from)], Item{Group: group.New(uint64(n), summary.Epoch{Sequence: 1}), Number: 1})
	})
	if made > 0 || len(m.early) != maxTold {
		t.Errorf("%d items kept, with %v allocations each", len(m.early), made)
	}
}

// BenchmarkRemoved asks of a peer without a link whether a fingerprint is removed, while nobody of 10,000 has tails and
// while one has.
func BenchmarkRemoved(b *testing.B) {
	for _, held := range []int{0, 1} {
		b.Run(fmt.Sprintf("tails=%d", held), func(b *testing.B) {
			m := &Machine{held: held}
			peers := namesOf(10_000)
			for _, p := range peers {
				m.origins.put(&origin{peer: p, tag: m.tagOf(p), progress: nothing})
			}
			i := 0
			for b.Loop() {
				i += 7919
				m.Removed(peers[i%len(peers)], 5)
			}
		})
	}
}

// namesOf are the names of n peers, of 38 bytes as on real hosts.
func namesOf(n int) (out []overlay.PeerID) {
	for i := range n {
		out = append(out, overlay.PeerID(fmt.Sprintf("%038d", i)))
	}
	return out
}
