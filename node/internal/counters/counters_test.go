package counters

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// TestTrafficIsBounded: of many peers those are told apart that something went to or came from last.
func TestTrafficIsBounded(t *testing.T) {
	c := New()
	for i := range 2 * maxTrafficPeers {
		p := peer.ID(fmt.Sprint(i))
		c.Count(p, "p", 1, 0)
		c.Count("steady", "q", 0, i%2)
	}
	got := c.ByPeer()
	if steady := got[len(got)-1]; len(got) > maxTrafficPeers || steady.Peer != "steady" || steady.Received != maxTrafficPeers {
		t.Errorf("the traffic of %d peers is kept, of the steady one %+v", len(got), steady)
	}
	if got := c.Protocols()["p"]; got.Sent < 2*maxTrafficPeers {
		t.Errorf("%+v in all", got)
	}
}
