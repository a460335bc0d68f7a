package counters

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// TestTrafficIsBounded: peers whose streams fail after they have left, or bring a last byte, are forgotten, too.
func TestTrafficIsBounded(t *testing.T) {
	c := New()
	for i := range 2 * mostTrafficPeers {
		p := peer.ID(fmt.Sprint(i))
		c.Count(p, "p", 1, 0)
		c.Forget(p)
		c.Count(p, "p", 0, 0)
		c.Count(p, "q", 0, i%2)
	}
	if n := len(c.traffic); n > mostTrafficPeers {
		t.Errorf("the traffic of %d peers is kept", n)
	}
	if got := c.Protocols()["p"]; got.Sent < 2*mostTrafficPeers {
		t.Errorf("%+v in all", got)
	}
}
