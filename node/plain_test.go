package node

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

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

// TestPlainPeerIsTakenIn: what a plain peer publishes of itself is known and found, and passed on to other plain peers.
// Nodes with partial messages do not get it.
func TestPlainPeerIsTakenIn(t *testing.T) {
	n := newNode(t)
	o := newOrigin(t, "o", 500)
	p := newPlain(t, o, n)
	q := newPlain(t, newOrigin(t, "q", 10), n)
	passed := make(chan *pubsub.Message, 1)
	go func() { passed <- q.next(t) }()
	var m *pubsub.Message
	eventually(t, "n hears of the origin, and q", func() bool {
		if err := p.topic.Publish(t.Context(), o.message(t)); err != nil {
			t.Fatal(err)
		}
		select {
		case m = <-passed:
		default:
		}
		held, err := n.SummaryOf(t.Context(), o.id)
		return err == nil && held.Parts() == 1 && m != nil
	})
	if m.GetFrom() != o.id || !bytes.Equal(m.Data, o.message(t)) {
		t.Errorf("%d bytes of %s were passed on", len(m.Data), m.GetFrom())
	}
	if s, err := n.Status(t.Context()); err != nil || len(s.Refused) > 0 {
		t.Errorf("refused %v, %v", s.Refused, err)
	}
}

// TestPlainMessages holds what an ordinary message is refused for.
func TestPlainMessages(t *testing.T) {
	n := newNode(t)
	o, other := newOrigin(t, "o", 500), newOrigin(t, "other", 500)
	good := o.message(t)
	if p, err := n.openSample(o.id, good); err != nil || p.Group != o.item().Group {
		t.Fatal(err)
	}
	if _, err := n.openSample(other.id, good); !errors.Is(err, errAuthor) {
		t.Errorf("another author: %v", err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := n.openSample(o.id, bad); err == nil {
			t.Errorf("byte %d changed: taken in", i)
		}
	}
	full := o.item()
	full.Have, full.Want = 0, full.Have
	for name, msg := range map[string][]byte{
		"empty":     nil,
		"too large": append(bytes.Clone(good), make([]byte, wire.MaxSample)...),
		"all parts": o.parts(t, full).Append(nil),
		"refusal":   wire.Parts{Refused: true}.Append(nil),
		"delta":     wire.Parts{Envelope: o.envelope, Record: o.record, Delta: []byte{1}}.Append(nil),
		"no record": func() []byte {
			it := full
			it.Want = 1
			p := *o.parts(t, it)
			p.Record = nil
			return p.Append(nil)
		}(),
		"other's one": func() []byte {
			it := full
			it.Want = 1
			p := *o.parts(t, it)
			p.Record = other.record
			return p.Append(nil)
		}(),
	} {
		if _, err := n.openSample(o.id, msg); err == nil {
			t.Errorf("%s: taken in", name)
		}
	}
	elsewhere := newNode(t, WithNetwork("venn", 7))
	if _, err := elsewhere.openSample(o.id, good); !errors.Is(err, summary.ErrSeed) {
		t.Errorf("another seed: %v", err)
	}
}

// TestPlainFlood: messages beyond what the line may carry are dropped, counted, and not passed on; wrong ones cost the
// sender its place.
func TestPlainFlood(t *testing.T) {
	t.Parallel()
	board := newScores()
	n := newNode(t, WithBandwidth(64_000, 64_000), withPubsub(board.option()))
	o := newOrigin(t, "o", 500)
	p := newPlain(t, o, n)
	eventually(t, "some are dropped", func() bool { // 16 KiB are let in at first, then 267 bytes a second
		if err := p.topic.Publish(t.Context(), o.message(t)); err != nil {
			t.Fatal(err)
		}
		s := statusOf(t, n)
		return s.Dropped["messages"] > 10 && s.Origins == 1
	})
	fresh := newNode(t, withPubsub(board.option()))
	bad := newPlain(t, newOrigin(t, "bad", 500), fresh)
	eventually(t, "wrong messages are refused and the sender's score falls", func() bool {
		if err := bad.topic.Publish(t.Context(), o.message(t)); err != nil {
			t.Fatal(err)
		}
		s := statusOf(t, fresh)
		return s.Refused["message"] > 2 && s.Origins == 0 && board.of(bad.id) < 0
	})
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
