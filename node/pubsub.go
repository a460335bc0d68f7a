package node

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p-pubsub/partialmessages"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/summary"
)

const (
	pubsubID      protocol.ID = pubsub.GossipSubID_v13 // under which pubsub's traffic is counted
	maxRPC                    = 1 << 20                // bytes of an RPC that pubsub reads
	rpcQueue                  = 512                    // RPCs that may wait for one peer; default 32, beyond it pubsub drops
	groupTTL                  = 4                      // heartbeats; the state of groups is ours, pubsub's is emptied at once
	maxGroups                 = 1 << 14                // groups that peers may begin between two heartbeats; default 255
	maxGroupsPeer             = 1 << 12                // the same for one peer; default 8
)

// Topic is where the summaries of a network are exchanged.
func Topic(network string) string { return "/venn/" + network + "/summaries/1" }

// extension is pubsub's partial messages without state of its own: it is emptied after every use.
type extension = partialmessages.PartialMessagesExtension[struct{}]

// mesh is the node's end of pubsub. What it is to send waits in a queue, from which one goroutine hands it to pubsub's own;
// when the queue is full the message is dropped, and counted. Pubsub's callbacks run on its goroutine: they only post.
type mesh struct {
	n      *Node
	ps     *pubsub.PubSub
	topic  string
	top    *pubsub.Topic
	sub    *pubsub.Subscription
	outbox chan outgoing
	plain  plain

	protocols event.Emitter // of what pubsub is told of peers
}

// outgoing is a partial message for one peer; or, without a group, the word that the peer misbehaved; or an ordinary message.
type outgoing struct {
	to              peer.ID
	group           string
	metadata, parts []byte
	message         []byte
}

const outboxSize = 1024

// newMesh joins the topic. It sets n.mesh before pubsub begins: peers that are connected already may misbehave at once.
func newMesh(ctx context.Context, n *Node) error {
	m := &mesh{n: n, topic: Topic(n.cfg.seed.Network), outbox: make(chan outgoing, outboxSize)}
	m.plain.peers = make(map[peer.ID]bool)
	m.plain.credit(n.cfg.messageRate(), time.Hour) // a burst
	var err error
	if m.protocols, err = n.host.EventBus().Emitter(new(event.EvtPeerProtocolsUpdated)); err != nil {
		return fmt.Errorf("node: event bus: %w", err)
	}
	n.mesh = m
	ext := &extension{
		Logger:                                 n.log,
		OnIncomingRPC:                          m.incoming,
		OnEmitGossip:                           m.gossip,
		PeerInitiatedGroupLimitPerTopic:        maxGroups,
		PeerInitiatedGroupLimitPerTopicPerPeer: maxGroupsPeer,
		GroupTTLByHeatbeat:                     groupTTL,
	}
	ps, err := pubsub.NewGossipSub(ctx, watchedHost{n.host, n}, append([]pubsub.Option{
		pubsub.WithPartialMessagesExtension(ext),
		pubsub.WithLogger(n.log),
		pubsub.WithRawTracer(&tracer{m: m}),
		pubsub.WithMaxMessageSize(maxRPC),
		pubsub.WithPeerOutboundQueueSize(rpcQueue),
		pubsub.WithPeerFilter(func(p peer.ID, _ string) bool { return n.conns.linked(p) }),
		pubsub.WithSubscriptionFilter(pubsub.NewAllowlistSubscriptionFilter(m.topic)),
		pubsub.WithAppSpecificRpcInspector(m.inspect),
		pubsub.WithPeerScore(scores(m.topic)),
		pubsub.WithGossipSubParams(gossipParams()),
	}, n.cfg.pubsub...)...)
	if err != nil {
		return fmt.Errorf("node: pubsub: %w", err)
	}
	m.ps = ps
	if err := ps.RegisterTopicValidator(m.topic, m.validate); err != nil {
		return fmt.Errorf("node: pubsub: %w", err)
	}
	if m.top, err = ps.Join(m.topic, pubsub.RequestPartialMessages()); err != nil {
		return fmt.Errorf("node: pubsub: %w", err)
	}
	if m.sub, err = m.top.Subscribe(); err != nil {
		return fmt.Errorf("node: pubsub: %w", err)
	}
	n.tasks.run(m.deliver)
	n.tasks.run(m.read)
	return nil
}

// gossipParams are pubsub's, but for a peer that was pruned: it may come back in 10 s, for a network that forms around a few
// known peers prunes many at first (default: a minute).
func gossipParams() pubsub.GossipSubParams {
	p := pubsub.DefaultGossipSubParams()
	p.PruneBackoff = 10 * time.Second
	return p
}

// scores makes a peer that sent invalid messages leave the mesh, and after ten within a few minutes be ignored. Nothing else
// counts; in particular many peers may share an address.
func scores(topic string) (*pubsub.PeerScoreParams, *pubsub.PeerScoreThresholds) {
	params := &pubsub.PeerScoreParams{
		AppSpecificScore: func(peer.ID) float64 { return 0 },
		DecayInterval:    time.Second,
		DecayToZero:      0.1,
		RetainScore:      10 * time.Minute,
		Topics: map[string]*pubsub.TopicScoreParams{topic: {
			TopicWeight:                    1,
			TimeInMeshQuantum:              time.Second,
			InvalidMessageDeliveriesWeight: -1,
			InvalidMessageDeliveriesDecay:  0.995,
			SkipAtomicValidation:           true,
		}},
	}
	thresholds := &pubsub.PeerScoreThresholds{GossipThreshold: -20, PublishThreshold: -50, GraylistThreshold: -100}
	return params, thresholds
}

// close leaves the topic.
func (m *mesh) close() {
	if m.sub != nil {
		m.sub.Cancel()
	}
	for _, id := range []protocol.ID{pubsub.GossipSubID_v10, pubsub.GossipSubID_v11, pubsub.GossipSubID_v12, pubsub.GossipSubID_v13, pubsub.FloodSubID} {
		m.n.host.RemoveStreamHandler(id)
	}
}

// read takes ordinary messages off the subscription, lest it fills up: validate has seen to them.
func (m *mesh) read() {
	for {
		if _, err := m.sub.Next(m.n.ctx); err != nil {
			return
		}
	}
}

// send queues a message, or drops it.
func (m *mesh) send(o outgoing) {
	select {
	case m.outbox <- o:
	default:
		m.n.counters.drop("outbox")
	}
}

// deliver hands the queue's messages to pubsub's goroutine, one after the other.
func (m *mesh) deliver() {
	for {
		select {
		case <-m.n.ctx.Done():
			return
		case o := <-m.outbox:
			var err error
			switch {
			case o.message != nil:
				err = m.top.Publish(m.n.ctx, o.message)
			case o.group == "":
				err = m.ps.PeerFeedback(m.topic, o.to, pubsub.PeerFeedbackInvalidMessage)
			default:
				err = pubsub.PublishPartial(m.ps, m.topic, []byte(o.group), m.only(o))
			}
			if err != nil && m.n.ctx.Err() == nil {
				m.n.log.Debug("pubsub", "peer", o.to, "err", err)
			}
		}
	}
}

// only sends a message to its one peer, and leaves no state of the group behind.
func (m *mesh) only(o outgoing) partialmessages.PublishActionsFn[struct{}] {
	return func(states map[peer.ID]struct{}, requests func(peer.ID) bool) iter.Seq2[peer.ID, partialmessages.PublishAction] {
		clear(states)
		return func(yield func(peer.ID, partialmessages.PublishAction) bool) {
			if !requests(o.to) {
				m.n.counters.drop("not subscribed")
				return
			}
			yield(o.to, partialmessages.PublishAction{EncodedPartialMessage: o.parts, EncodedPartsMetadata: o.metadata})
		}
	}
}

// gossip is asked to tell peers outside the mesh of a group. We tell whom we choose, in catalogues.
func (m *mesh) gossip(_ string, _ []byte, _ []peer.ID, states map[peer.ID]struct{}) { clear(states) }

// inspect looks at an RPC before pubsub does, and drops the whole of it if it carries a partial message that is not for us
// or over the limits, so that no state is kept for that.
func (m *mesh) inspect(from peer.ID, rpc *pubsub.RPC) error {
	m.n.counters.count(from, pubsubID, 0, sizeRPC(rpc))
	if len(rpc.GetControl().GetGraft()) > 0 {
		m.n.conns.link(from) // it grafts only links; its hello may still be on the way, and a graft refused is never repeated
	}
	m.plain.subscribed(from, m.topic, rpc.GetSubscriptions())
	p := rpc.GetPartial()
	if p == nil {
		return nil
	}
	err := m.check(p)
	if err != nil {
		m.n.refuse(from, "rpc "+reasonRPC(err), err)
	}
	return err
}

var (
	errTopic = errors.New("node: partial message of a topic never joined")
	errGroup = errors.New("node: partial message of a group that is none")
	errSize  = errors.New("node: partial message over the limit")
)

func (m *mesh) check(p *pb.PartialMessagesExtension) error {
	catalogue := string(p.GroupID) == wire.CatalogueGroup
	switch {
	case p.GetTopicID() != m.topic:
		return errTopic
	case !catalogue && len(p.GroupID) != len(summary.GroupID{}):
		return errGroup
	case len(p.PartsMetadata) > wire.MaxCatalogue || len(p.PartialMessage) > wire.MaxPartsRPC:
		return errSize
	case catalogue && len(p.PartialMessage) > 0 || !catalogue && len(p.PartsMetadata) > 0:
		return errGroup
	}
	return nil
}

func reasonRPC(err error) string {
	switch {
	case errors.Is(err, errTopic):
		return "topic"
	case errors.Is(err, errSize):
		return "over the limit"
	}
	return "group"
}

// incoming decodes a partial message and posts it. It runs on pubsub's goroutine.
func (m *mesh) incoming(from peer.ID, states map[peer.ID]struct{}, rpc *pb.PartialMessagesExtension) error {
	clear(states)
	msg, err := decodePartial(from, rpc)
	if err != nil {
		reason, _ := misbehaviour(err)
		m.n.refuse(from, "rpc "+reason, err)
		return err
	}
	msg.came = m.n.now()
	if !m.n.in.offerPartial(msg) {
		m.n.counters.drop("partials")
	}
	return nil
}

func decodePartial(from peer.ID, rpc *pb.PartialMessagesExtension) (p partial, err error) {
	p.from, p.bytes = from, protowire.SizeBytes(1+protowire.SizeBytes(proto.Size(rpc)))
	if string(rpc.GroupID) == wire.CatalogueGroup {
		p.catalogue, err = wire.ParseCatalogue(rpc.PartsMetadata)
		return p, err
	}
	parts, err := wire.ParseParts(rpc.PartialMessage, wire.MaxPartsRPC)
	if err == nil && parts.Refused {
		err = fmt.Errorf("%w: refusal of what was not asked for on a stream", wire.ErrMalformed)
	}
	p.group, p.parts = summary.GroupID(rpc.GroupID), &parts
	return p, err
}

// sizeRPC is what an RPC takes on a stream, with its length.
func sizeRPC(rpc *pubsub.RPC) int {
	return protowire.SizeBytes(proto.Size(&rpc.RPC))
}

// tracer hears from pubsub of its mesh and of every RPC. It runs on pubsub's goroutine.
type tracer struct{ m *mesh }

// OnNewOutboundStream charges the peer for pubsub's first message, which is not traced: the subscription and its flags.
func (t *tracer) OnNewOutboundStream(p peer.ID, _ protocol.ID) {
	size := len(t.m.topic) + 20
	t.m.n.counters.count(p, pubsubID, size, 0)
	t.m.n.in.charged(p, size)
}

// OnClosedOutboundStream says that the peer has left the mesh, of which Prune does not tell.
func (t *tracer) OnClosedOutboundStream(p peer.ID) {
	t.m.plain.left(p)
	t.m.n.in.meshChanged(p, ended)
	if t.m.n.host.Network().Connectedness(p) == network.Connected {
		t.m.n.tasks.run(func() { t.m.forgotten(p) })
	}
}

// patience is how long pubsub may take to know that a linked peer is subscribed, before more is done about it.
const patience = 3 * time.Second

// unknown waits a little and says whether pubsub still does not know that a linked peer is subscribed.
func (m *mesh) unknown(p peer.ID) bool {
	select {
	case <-time.After(patience):
	case <-m.n.ctx.Done():
	}
	return m.n.conns.linked(p) && !slices.Contains(m.top.ListPeers(), p) && m.n.ctx.Err() == nil
}

// meet tells pubsub that a linked peer has its protocol, if it does not know by itself: a peer that began with pubsub just when ours
// tried to open a stream to it is not tried again.
func (m *mesh) meet(p peer.ID) {
	if !m.unknown(p) {
		return
	}
	if err := m.protocols.Emit(event.EvtPeerProtocolsUpdated{Peer: p, Added: []protocol.ID{pubsubID}}); err != nil {
		m.n.log.Debug("pubsub not told of a peer", "peer", p, "err", err)
	}
}

// forgotten closes the connection with a peer, our stream to which has ended though the connection has not, unless the peer
// subscribes anew soon. Pubsub forgets then what the peer is subscribed to, and the peer, whose own stream may be as it was, does
// not say it again: so it goes when of two connections that were made at once the one with our stream is closed.
func (m *mesh) forgotten(p peer.ID) {
	if m.unknown(p) {
		m.n.log.Debug("subscription lost", "peer", p)
		_ = m.n.host.Network().ClosePeer(p)
	}
}

func (t *tracer) Graft(p peer.ID, _ string) { t.m.n.in.meshChanged(p, begun) }
func (t *tracer) Prune(p peer.ID, _ string) { t.m.n.in.meshChanged(p, ended) }

// SendRPC counts; what was not ordered by the core is charged to the peer's budget.
func (t *tracer) SendRPC(rpc *pubsub.RPC, p peer.ID) {
	size := sizeRPC(rpc)
	t.m.n.counters.count(p, pubsubID, size, 0)
	if rpc.Partial == nil {
		t.m.n.in.charged(p, size)
	}
}

func (t *tracer) DropRPC(rpc *pubsub.RPC, p peer.ID) {
	if rpc.Partial != nil {
		t.m.n.in.lost(p)
		t.m.n.counters.drop("pubsub partial")
		return
	}
	t.m.n.counters.drop("pubsub control")
}

func (t *tracer) Join(string)                           {}
func (t *tracer) Leave(string)                          {}
func (t *tracer) ValidateMessage(*pubsub.Message)       {}
func (t *tracer) DeliverMessage(*pubsub.Message)        {}
func (t *tracer) RejectMessage(*pubsub.Message, string) {}
func (t *tracer) DuplicateMessage(*pubsub.Message)      {}
func (t *tracer) ThrottlePeer(peer.ID)                  {}
func (t *tracer) RecvRPC(*pubsub.RPC)                   {}
func (t *tracer) UndeliverableMessage(*pubsub.Message)  {}
