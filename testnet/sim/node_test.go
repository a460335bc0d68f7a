package sim

import (
	"testing"

	"github.com/venn-p2p/venn/testnet/strategy"
)

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
