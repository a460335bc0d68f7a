package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/region"
)

// TestRangedCountsThoseWhoChoseUs: links into the own range that others made are enough, except for two of our own.
func TestRangedCountsThoseWhoChoseUs(t *testing.T) {
	d := known()
	publish(t, d, 0, 1)
	top := New(Config{Random: 4, Overlap: 4, MaxLinks: 20, Rand: rand.New(rand.NewPCG(1, 1))}, d)
	top.within = func(*directory.Entry) bool { return true }
	if n := top.rangedSlots(); n != region.RangeLinks {
		t.Errorf("%d slots without anybody, want %d", n, region.RangeLinks)
	}
	top.add(0, peer, neighbour{kind: Inbound, accepted: true})
	if n := top.rangedSlots(); n != region.RangeLinks-1 {
		t.Errorf("%d slots beside one who chose us, want %d", n, region.RangeLinks-1)
	}
	top.within = func(*directory.Entry) bool { return false }
	if n := top.rangedSlots(); n != region.RangeLinks {
		t.Errorf("%d slots beside one of elsewhere, want %d", n, region.RangeLinks)
	}
}
