package node

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/venn-p2p/venn/node/internal/mesh"
)

// plainPeer is a peer that runs nothing but gossipsub, and sends ordinary messages alone.
type plainPeer struct {
	topic *pubsub.Topic
	sub   *pubsub.Subscription
	host  host.Host
}

// newPlain returns a plain peer with an origin's key, connected to nodes.
func newPlain(t *testing.T, o origin, nodes ...*Node) plainPeer {
	t.Helper()
	h := hostWith(t, libp2p.Identity(o.key), libp2p.ResourceManager(&network.NullResourceManager{}))
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	ps := must(pubsub.NewGossipSub(ctx, h, Gossip(), pubsub.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))))
	topic := must(ps.Join(Topic("venn")))
	sub := must(topic.Subscribe())
	for _, n := range nodes {
		if err := h.Connect(ctx, info(n)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "n knows the plain peer", func() bool { return slices.Contains(n.mesh.Peers(), h.ID()) })
		eventually(t, "the plain peer knows n", func() bool { return slices.Contains(topic.ListPeers(), n.ID()) })
	}
	return plainPeer{topic, sub, h}
}

// message is what an origin publishes of itself.
func (o origin) message(t *testing.T) []byte {
	it := o.item()
	it.Have, it.Want = 0, 1
	return o.parts(t, it).Append(nil)
}

// unread counts the messages that pubsub takes to verify, and hears of the mesh.
type unread struct {
	grafts
	verified atomic.Int64
}

func (u *unread) ValidateMessage(*pubsub.Message) { u.verified.Add(1) }

// TestOrdinaryMessagesAreNotRead: ordinary messages, of a linked peer or of a stranger, are dropped before pubsub looks
// at their signatures, which may take a millisecond each. They are neither learned from nor passed on.
func TestOrdinaryMessagesAreNotRead(t *testing.T) {
	seen := &unread{grafts: grafts{&raw{grafted: make(map[peer.ID]bool)}}}
	n := newNode(t, withPubsub(pubsub.WithRawTracer(seen)))
	o := newOrigin(t, "o", 500)
	linked, other := newPlain(t, o, n), newPlain(t, newOrigin(t, "q", 10), n)
	eventually(t, "a linked peer's are dropped", func() bool {
		if err := linked.topic.Publish(t.Context(), o.message(t)); err != nil {
			t.Fatal(err)
		}
		return statusOf(t, n).Dropped["messages"] > 10
	})
	before, h, topic := statusOf(t, n).Dropped["messages"], newHost(t), Topic("venn")
	dialTo(t, h, info(n))
	s := must(h.NewStream(t.Context(), n.ID(), mesh.ProtocolID))
	for i := range 10 {
		m := &pb.Message{From: []byte(o.id), Data: o.message(t), Topic: &topic, Seqno: []byte{byte(i)}, Signature: []byte("of any kind")}
		if _, err := s.Write(protowire.AppendBytes(nil, must(proto.Marshal(&pb.RPC{Publish: []*pb.Message{m}})))); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "a stranger's are dropped", func() bool { return statusOf(t, n).Dropped["messages"] >= before+10 })
	if st := statusOf(t, n); seen.verified.Load() > 0 || st.Origins > 0 || len(st.Refused) > 0 {
		t.Errorf("%d are verified, %d origins are known, refused %v", seen.verified.Load(), st.Origins, st.Refused)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if m, err := other.sub.Next(ctx); err == nil {
		t.Errorf("a message of %s is passed on", m.GetFrom())
	}
}
