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
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// plainPeer is a peer that runs nothing but gossipsub without partial messages.
type plainPeer struct {
	id    peer.ID
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
	ps := must(pubsub.NewGossipSub(ctx, h, Gossip(false), pubsub.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))))
	topic := must(ps.Join(Topic("venn")))
	sub := must(topic.Subscribe())
	for _, n := range nodes {
		if err := h.Connect(ctx, info(n)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "n knows the plain peer", func() bool { return slices.Contains(n.mesh.Peers(), h.ID()) })
		eventually(t, "the plain peer knows n", func() bool { return slices.Contains(topic.ListPeers(), n.ID()) })
	}
	return plainPeer{h.ID(), topic, sub, h}
}

// next is the next message of another peer.
func (p plainPeer) next(t *testing.T) *pubsub.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		m, err := p.sub.Next(ctx)
		if err != nil {
			t.Error(err)
			return nil
		}
		if m.ReceivedFrom != p.id {
			return m
		}
	}
}

// message is what an origin publishes of itself.
func (o origin) message(t *testing.T) []byte {
	it := o.item()
	it.Have, it.Want = 0, 1
	return o.parts(t, it).Append(nil)
}

// TestPlainPeerGetsTheSample: a peer whose pubsub knows no partial messages gets the sample of a node's summary, when
// it joins and with a new epoch. It can verify and ask it with nothing but the libraries.
func TestPlainPeerGetsTheSample(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	keys := keysOf("k", 3000)
	add(t, n, keys...)
	eventually(t, "an epoch", func() bool { return statusOf(t, n).Epoch.Sequence > 0 })
	p := newPlain(t, newOrigin(t, "plain", 10), n)
	m := p.next(t)
	if m == nil || m.GetFrom() != n.ID() {
		t.Fatalf("message %v", m)
	}
	parts, err := wire.ParseParts(m.Data, wire.MaxSample)
	if err != nil {
		t.Fatal(err)
	}
	h, err := signed.OpenHeader(parts.Envelope)
	if err != nil || h.N != len(keys) || h.Origin != string(n.ID()) {
		t.Fatalf("header %+v, %v", h, err)
	}
	none := must(summary.NewPrefix(h))
	sample, err := none.Extend(parts.Run)
	if err != nil || sample.Parts() != 1 || sample.FalsePositiveRate() == 1 {
		t.Fatalf("sample of %d parts, %v", sample.Parts(), err)
	}
	hasher := summary.Seed{Network: "venn"}.Hasher()
	for _, k := range keys {
		if !sample.Contains(hasher.Fingerprint(k)) {
			t.Fatalf("%s is denied", k)
		}
	}
	if r, err := signed.OpenRecord(parts.Record); err != nil || r.ID != n.ID() {
		t.Errorf("record of %s, %v", r.ID, err)
	}
	eventually(t, "the message is counted for the plain peer", func() bool {
		return slices.ContainsFunc(n.Traffic(), func(tr Traffic) bool {
			return tr.Peer == p.id && tr.Protocol == mesh.ProtocolID && tr.Sent >= uint64(len(m.Data))
		})
	})
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

// TestNoOrdinaryMessagesAmongNodes: pubsub does not send an ordinary message to a peer that takes partial ones.
func TestNoOrdinaryMessagesAmongNodes(t *testing.T) {
	t.Parallel()
	nodes := meshOf(t, 2, 100)
	nodes[0].mesh.Publish([]byte("to nobody"))
	time.Sleep(200 * time.Millisecond)
	if s := statusOf(t, nodes[1]); len(s.Refused) > 0 || s.Dropped["messages"] > 0 {
		t.Errorf("refused %v, dropped %v", s.Refused, s.Dropped)
	}
}
