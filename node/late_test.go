package node

import (
	"testing"
	"time"
)

// TestLateNotice: on a busy machine a node may hear of a connection after it has a link on it. The link stays.
func TestLateNotice(t *testing.T) {
	a, b := newNode(t), newNode(t)
	connect(t, a, b)
	eventually(t, "a link", func() bool { return a.links.Linked(b.ID()) && b.links.Linked(a.ID()) })
	for _, n := range []struct{ at, of *Node }{{a, b}, {b, a}} {
		for _, c := range n.at.host.Network().ConnsToPeer(n.of.ID()) {
			if opened := c.Stat().Opened; opened.IsZero() || time.Since(opened) > time.Minute {
				t.Fatalf("opened at %v", opened)
			}
			(&notifiee{n.at}).Connected(n.at.host.Network(), c)
		}
		if !n.at.links.Linked(n.of.ID()) {
			t.Error("the link on the connection that was heard of late is gone")
		}
	}
}
