package sim

import (
	"testing"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// What a busy instant took is given back; where events come and go, no memory is taken anew.
func TestBag(t *testing.T) {
	var b bag
	round := func(n int) {
		for range n {
			b.add(&event{msg: strategy.Message{Body: "kept"}})
		}
		b.empty()
	}
	round(1000)
	if made := testing.AllocsPerRun(10, func() { round(500) }); made > 0 {
		t.Errorf("%v times memory was taken", made)
	}
	for _, e := range b[:cap(b)] {
		if e.msg.Body != nil {
			t.Fatalf("an empty bag holds %+v", e)
		}
	}
	if round(1); cap(b) > 0 {
		t.Errorf("room for %d events is kept", cap(b))
	}
}

// Connections without a link are kept by peer: the one that is released goes, and no other.
func TestReleased(t *testing.T) {
	for gone := range strategy.ID(3) {
		n := &node{recent: []connection{{peer: 0}, {peer: 1}, {peer: 2}}}
		n.release(n.passing(gone))
		for p := range strategy.ID(3) {
			if (n.passing(p) == nil) != (p == gone) {
				t.Errorf("%d was released: %+v are left", gone, n.recent)
			}
		}
	}
}
