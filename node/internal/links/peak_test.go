package links

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// TestPeakCountsLinksTaken: the largest number of connections counts those made and the links taken together, whichever
// came last, and stays when they end.
func TestPeakCountsLinksTaken(t *testing.T) {
	c := New(32)
	for i := range 3 {
		made(t, c, peer.ID(fmt.Sprint("own ", i)), at(0))
	}
	for i := range 5 {
		if _, ok := c.Link(peer.ID(fmt.Sprint("stranger ", i)), "", false, at(1)); !ok {
			t.Fatalf("no room for stranger %d", i)
		}
	}
	if c.Peak() != 8 {
		t.Errorf("at most %d of 3 made and 5 taken", c.Peak())
	}
	for i := range 5 {
		c.Unlink(peer.ID(fmt.Sprint("stranger ", i)))
	}
	if c.Peak() != 8 {
		t.Errorf("at most %d, of 8 before", c.Peak())
	}
}
