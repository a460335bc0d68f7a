package node

import (
	"bytes"
	"context"
	"io"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p-pubsub/partialmessages"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// raw is a peer without a core: it says and answers what a test wants.
type raw struct {
	t   testing.TB
	h   host.Host
	ps  *pubsub.PubSub
	sub *pubsub.Subscription

	mu       sync.Mutex
	answer   func(wire.Item) *wire.Parts // what to send to a peer that asks by pubsub; nil: nothing
	grafted  map[peer.ID]bool
	asked    int
	sentBack int
	heard    func() // called when a catalogue announces something; nil: nothing
}

// newRaw returns a raw peer that is linked with n.
func newRaw(t testing.TB, n *Node) *raw {
	t.Helper()
	r := &raw{t: t, h: newHost(t), grafted: make(map[peer.ID]bool)}
	r.join()
	r.greet(n)
	eventually(t, "the raw peer knows that n subscribes", func() bool {
		return slices.Contains(r.ps.ListPeers(Topic("venn")), n.ID())
	})
	return r
}

// join begins the raw peer's pubsub, with options besides its own.
func (r *raw) join(options ...pubsub.Option) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.t.Cleanup(cancel)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	ps, err := pubsub.NewGossipSub(ctx, r.h, append(options,
		pubsub.WithPartialMessagesExtension(&partialmessages.PartialMessagesExtension[struct{}]{
			Logger: quiet, GroupTTLByHeatbeat: 4, OnEmitGossip: func(_ string, _ []byte, _ []peer.ID, s map[peer.ID]struct{}) { clear(s) },
			OnIncomingRPC:                   r.incoming,
			PeerInitiatedGroupLimitPerTopic: 1 << 14, PeerInitiatedGroupLimitPerTopicPerPeer: 1 << 12,
		}),
		Gossip(), pubsub.WithLogger(quiet), pubsub.WithRawTracer(&grafts{r: r}), pubsub.WithMaxMessageSize(8<<20), pubsub.WithPeerOutboundQueueSize(512))...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.ps = ps
	topic, err := ps.Join(Topic("venn"), pubsub.RequestPartialMessages())
	if err != nil {
		r.t.Fatal(err)
	}
	if r.sub, err = topic.Subscribe(); err != nil {
		r.t.Fatal(err)
	}
}

// greet connects the raw peer with n and says hello.
func (r *raw) greet(n *Node) {
	r.t.Helper()
	r.h.SetStreamHandler(wire.ProtocolIn("venn", HelloID), func(s network.Stream) { _, _ = io.ReadAll(s); _ = s.Close() })
	if err := r.h.Connect(r.t.Context(), info(n)); err != nil {
		r.t.Fatal(err)
	}
	if got, err := r.exchange(n, HelloID, frame(wire.Hello{Session: 1}.Append(nil))); err != nil || len(got) > 0 {
		r.t.Fatalf("hello: % x, %v", got, err)
	}
}

// meshed waits until the raw peer is in one mesh with n.
func (r *raw) meshed(n *Node) {
	eventually(r.t, "the raw peer is grafted", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.grafted[n.ID()]
	})
}

// unframed returns the message of a frame.
func unframed(t testing.TB, b []byte) []byte {
	t.Helper()
	msg, err := wire.ReadFrame(bytes.NewReader(b), len(b), nil)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func frame(msg []byte) []byte {
	var b sliceWriter
	_ = wire.WriteFrame(&b, msg)
	return b
}

type sliceWriter []byte

func (w *sliceWriter) Write(b []byte) (int, error) { *w = append(*w, b...); return len(b), nil }

// exchange opens a stream, sends bytes and returns all that comes back.
func (r *raw) exchange(n *Node, id protocol.ID, b []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if id != PubsubID {
		id = n.versions(id)[0]
	}
	s, err := r.h.NewStream(ctx, n.ID(), id)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	_ = s.SetDeadline(time.Now().Add(time.Minute))
	if _, err := s.Write(b); err != nil {
		return nil, err
	}
	_ = s.CloseWrite()
	return io.ReadAll(s)
}

// publish sends one partial message.
func (r *raw) publish(n *Node, topic string, group, metadata, parts []byte) {
	r.t.Helper()
	err := pubsub.PublishPartial(r.ps, topic, group, func(states map[peer.ID]struct{}, _ func(peer.ID) bool) iter.Seq2[peer.ID, partialmessages.PublishAction] {
		clear(states)
		return func(yield func(peer.ID, partialmessages.PublishAction) bool) {
			yield(n.ID(), partialmessages.PublishAction{EncodedPartialMessage: parts, EncodedPartsMetadata: metadata})
		}
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// announce sends a catalogue.
func (r *raw) announce(n *Node, items ...wire.Item) {
	r.t.Helper()
	r.publish(n, Topic("venn"), []byte(wire.CatalogueGroup), wire.Catalogue(items).Append(nil), nil)
}

// incoming answers asks.
func (r *raw) incoming(from peer.ID, states map[peer.ID]struct{}, rpc *pb.PartialMessagesExtension) error {
	clear(states)
	items, err := wire.ParseCatalogue(rpc.PartsMetadata)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, it := range items {
		if r.heard != nil && string(rpc.GroupID) == wire.CatalogueGroup && it.Have > 0 {
			r.heard()
		}
		if it.Want == 0 || r.answer == nil {
			continue
		}
		r.asked++
		p := r.answer(it)
		if p == nil {
			continue
		}
		r.sentBack++
		group, msg := it.Group, p.Append(nil)
		go func() {
			_ = pubsub.PublishPartial(r.ps, Topic("venn"), group[:], func(states map[peer.ID]struct{}, _ func(peer.ID) bool) iter.Seq2[peer.ID, partialmessages.PublishAction] {
				clear(states)
				return func(yield func(peer.ID, partialmessages.PublishAction) bool) {
					yield(from, partialmessages.PublishAction{EncodedPartialMessage: msg})
				}
			})
		}()
	}
	return nil
}

func (r *raw) answerWith(f func(wire.Item) *wire.Parts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// grafts hears from pubsub of its mesh, and of nothing else.
type grafts struct{ r *raw }

func (g *grafts) Prune(p peer.ID, _ string)              { g.set(p, false) }
func (g *grafts) Graft(p peer.ID, _ string)              { g.set(p, true) }
func (*grafts) OnNewOutboundStream(peer.ID, protocol.ID) {}
func (*grafts) OnClosedOutboundStream(peer.ID)           {}
func (*grafts) SendRPC(*pubsub.RPC, peer.ID)             {}
func (*grafts) DropRPC(*pubsub.RPC, peer.ID)             {}
func (*grafts) RecvRPC(*pubsub.RPC)                      {}
func (*grafts) Join(string)                              {}
func (*grafts) Leave(string)                             {}
func (*grafts) ValidateMessage(*pubsub.Message)          {}
func (*grafts) DeliverMessage(*pubsub.Message)           {}
func (*grafts) RejectMessage(*pubsub.Message, string)    {}
func (*grafts) DuplicateMessage(*pubsub.Message)         {}
func (*grafts) UndeliverableMessage(*pubsub.Message)     {}
func (*grafts) ThrottlePeer(peer.ID)                     {}
func (g *grafts) set(p peer.ID, in bool) {
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	g.r.grafted[p] = in
}

// origin is a synthetic peer's summary, signed by its own key.
type origin struct {
	id               peer.ID
	key              crypto.PrivKey
	envelope, record []byte
	stream           *summary.Prefix

	other       crypto.PrivKey // of somebody else, for attacks
	otherRecord []byte
}

func newOrigin(t testing.TB, name string, keys int) origin {
	t.Helper()
	return originWith(t, newStranger(t).key, name, keys)
}

// originWith is newOrigin with a key.
func originWith(t testing.TB, key crypto.PrivKey, name string, keys int) origin {
	t.Helper()
	id := must(peer.IDFromPrivateKey(key))
	o := origin{id: id, key: key, record: stranger{key, id}.record(t, 1).Envelope}
	return o.of(t, summary.Seed{Network: "venn"}, name, keys, summary.Epoch{Generation: 1, Sequence: 1})
}

// again is another summary of the same origin.
func (o origin) again(t *testing.T, name string, keys int, e summary.Epoch) origin {
	t.Helper()
	return o.of(t, summary.Seed{Network: "venn"}, name, keys, e)
}

// elsewhere is a summary of the same origin in another network.
func (o origin) elsewhere(t *testing.T) origin {
	t.Helper()
	return o.of(t, summary.Seed{Network: "other"}, "o", 100, summary.Epoch{Generation: 1, Sequence: 1})
}

func (o origin) of(t testing.TB, seed summary.Seed, name string, keys int, e summary.Epoch) origin {
	t.Helper()
	h := seed.Hasher()
	var fps []summary.Fingerprint
	for _, k := range keysOf(name, keys) {
		fps = append(fps, h.Fingerprint(k))
	}
	head := summary.Header{Seed: seed.Tag(), Origin: string(o.id), Epoch: e, Lifetime: time.Hour}
	if o.stream != nil {
		head.Shape = o.stream.Header().Shape // as long as it fits, deltas are made
	}
	stream := must(summary.Build(fps, head))
	payload := must(stream.Header().AppendBinary(nil))
	o.envelope = must(signed.HeaderSigner(o.key)(payload))
	o.stream = stream
	return o
}

func (o origin) item() wire.Item {
	return wire.Item{Group: wire.GroupOf(o.stream.Header()), Have: uint16(o.stream.Parts())}
}

// parts is what the origin's holder answers.
func (o origin) parts(t testing.TB, it wire.Item) *wire.Parts {
	run, err := o.stream.Run(int(it.Have), int(it.Want))
	if err != nil {
		t.Error(err)
		return nil
	}
	p := &wire.Parts{Run: run}
	if it.Have == 0 {
		p.Envelope, p.Record = o.envelope, o.record
	}
	return p
}

// scoreboard is what pubsub thinks of peers.
type scoreboard struct {
	mu     sync.Mutex
	scores map[peer.ID]float64
}

func newScores() *scoreboard { return &scoreboard{scores: make(map[peer.ID]float64)} }

func (s *scoreboard) option() pubsub.Option {
	return pubsub.WithPeerScoreInspect(func(scores map[peer.ID]float64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.scores = scores
	}, 100*time.Millisecond)
}

func (s *scoreboard) of(p peer.ID) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scores[p]
}

// withPubsub hands options to pubsub.
func withPubsub(opts ...pubsub.Option) Option {
	return func(c *config) error { c.pubsub = append(c.pubsub, opts...); return nil }
}
