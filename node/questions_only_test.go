package node

import (
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"

	"github.com/venn-p2p/venn/overlay/wire"
)

// TestQuestionsOnlyIsNotMet: on a connection made only to ask a question, neither end opens a stream of pubsub. On that of a
// link both do, and a connection for questions that becomes a link is met then.
func TestQuestionsOnlyIsNotMet(t *testing.T) {
	a, b, c := newNode(t), newNode(t), newNode(t)
	key := []byte("key")
	add(t, b, key)
	if err := a.dial(t.Context(), info(b), forQuery); err != nil {
		t.Fatal(err)
	}
	defer a.use(b.ID(), false)() // it is not closed as idle meanwhile
	has, _, err := a.have(t.Context(), wire.Record{Peer: wire.PeerID(b.ID())}, wire.HaveRequest{Keys: [][]byte{key}}, forQuery)
	if err != nil || !slices.Equal(has, []bool{true}) {
		t.Fatal(has, err)
	}
	for _, ends := range [][2]*Node{{a, b}, {b, a}} { // as when the host has changed and tells so before it is identified
		updated(t, ends[0], ends[1].ID(), ends[0].versions(HelloID)[0], PubsubID)
	}
	connect(t, a, c)
	met(t, a, c)
	for _, ends := range [][2]*Node{{a, b}, {b, a}} {
		if streamsOfPubsub(ends[0], ends[1].ID()) > 0 {
			t.Errorf("pubsub has a stream between %s and %s", ends[0].ID(), ends[1].ID())
		}
	}
	a.in.LinkWanted(b.ID())
	met(t, a, b)
}

// updated tells a node that a peer has protocols that it had not.
func updated(t *testing.T, n *Node, p peer.ID, added ...protocol.ID) {
	t.Helper()
	emitter := must(n.host.EventBus().Emitter(new(event.EvtPeerProtocolsUpdated)))
	defer func() { _ = emitter.Close() }()
	if err := emitter.Emit(event.EvtPeerProtocolsUpdated{Peer: p, Added: added}); err != nil {
		t.Fatal(err)
	}
}

// met waits until two nodes know of each other's subscription.
func met(t *testing.T, a, b *Node) {
	t.Helper()
	for _, ends := range [][2]*Node{{a, b}, {b, a}} {
		eventually(t, "a subscription is known", func() bool { return slices.Contains(ends[0].mesh.Peers(), ends[1].ID()) })
	}
}

// streamsOfPubsub counts the streams of pubsub between a node and a peer, both ways.
func streamsOfPubsub(n *Node, p peer.ID) (count int) {
	for _, c := range n.host.Network().ConnsToPeer(p) {
		for _, s := range c.GetStreams() {
			if s.Protocol() == PubsubID {
				count++
			}
		}
	}
	return count
}

// TestQuestionsDoNotWait: a question goes out before identify has said what the peer speaks.
func TestQuestionsDoNotWait(t *testing.T) {
	t.Parallel()
	n, other := newNode(t), newNode(t)
	add(t, other, []byte("k"))
	asked := make(chan struct{})
	defer close(asked)
	for _, h := range []host.Host{n.host, other.host} {
		h.SetStreamHandler(identify.ID, func(s network.Stream) { <-asked; _ = s.Reset() })
	}
	record := stranger{other.key, other.ID()}.record(t, 1, other.host.Addrs()...)
	has, _, err := n.have(t.Context(), record, wire.HaveRequest{Keys: [][]byte{[]byte("k")}}, forQuery)
	if err != nil || !slices.Equal(has, []bool{true}) {
		t.Errorf("%v, %v", has, err)
	}
	if known, err := n.host.Peerstore().GetProtocols(other.ID()); err != nil || len(known) > 0 {
		t.Errorf("what the peer speaks is known: %v, %v", known, err)
	}
}
