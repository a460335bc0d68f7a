package node

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

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

// TestLateSubscription: a link whose pubsub begins after its hello is told what the node has.
func TestLateSubscription(t *testing.T) {
	n := newNode(t)
	add(t, n, keysOf("k", 100)...)
	eventually(t, "a summary", func() bool { return epochOf(t, n).Sequence > 0 })
	r := &raw{t: t, h: newHost(t), grafted: make(map[peer.ID]bool)}
	told := make(chan bool, 1)
	r.heard = func() {
		select {
		case told <- true:
		default:
		}
	}
	r.greet(n)
	eventually(t, "a catalogue waits", func() bool { return n.mesh.Catalogues() > 0 })
	r.join()
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Error("the node's summary is not announced")
	}
}
