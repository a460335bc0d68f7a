package node

import (
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/venn-p2p/venn/node/internal/mesh"
)

// TestStreamLost: when a node's stream of pubsub to another ends alone, it forgets that the other is subscribed. It
// comes to know that again.
func TestStreamLost(t *testing.T) {
	a, b := newNode(t), newNode(t)
	add(t, a, keysOf("a", 100)...)
	add(t, b, keysOf("b", 100)...)
	connect(t, a, b)
	subscribed := func() bool { return slices.Contains(a.mesh.Peers(), b.ID()) }
	eventually(t, "they know each other", func() bool { return knows(a, b) && knows(b, a) && subscribed() })
	for _, c := range a.host.Network().ConnsToPeer(b.ID()) {
		for _, s := range c.GetStreams() {
			if s.Protocol() == mesh.ProtocolID && s.Stat().Direction == network.DirOutbound {
				_ = s.Reset()
			}
		}
	}
	eventually(t, "the subscription is lost", func() bool { return !subscribed() })
	eventually(t, "it is known again", subscribed)
}
