// Package mesh is a node's end of pubsub. Catalogues and parts go to linked peers as partial messages. Nodes send no
// ordinary messages, and read none.
//
// It guarantees that pubsub's goroutine never waits for the node: messages for which there is no room are dropped and
// counted. Received messages are checked for size and room before the loop gets them. The core verifies parts that it
// has asked for. The mesh keeps some state for each peer with a stream of pubsub, and at most 1,024 messages to send.
package mesh

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p-pubsub/partialmessages"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/node/internal/tasks"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// ProtocolID is the version of gossipsub with partial messages, under an id of the node's own, so that another
	// pubsub may run on the host. Pubsub's traffic is counted under it.
	ProtocolID protocol.ID = "/venn" + pubsub.GossipSubID_v13

	maxRPC      = 2 * wire.MaxPartsRPC // most bytes of an RPC that pubsub reads: a node's longest, and room
	strangerRPC = 4 << 10              // most bytes of an RPC without a link: a subscription, a graft, room
	rpcQueue    = 512                  // most RPCs that wait for one peer; pubsub's default is 32, and it drops more
	groupTTL    = 4                    // heartbeats that pubsub keeps a group; the node empties its state at once
)

// extension is pubsub's extension for partial messages. Its state has no content: it is emptied after every use.
type extension = partialmessages.PartialMessagesExtension[struct{}]

// Config holds a mesh's settings and the hooks of its node.
type Config struct {
	Host     host.Host
	Topic    string
	Done     context.Context // ends with the node
	Log      *slog.Logger
	Tasks    *tasks.Group
	Counters *counters.Counters
	Inbox    *inbox.Inbox
	Now      func() time.Duration                         // returns the time on the core's clock
	Admit    *admit.Table                                 // delays messages until a peer may cause work
	Linked   func(peer.ID) bool                           // reports whether hello was said with the peer
	Barred   func(peer.ID) bool                           // reports whether a peer is not served
	Link     func(peer.ID) bool                           // makes a link of the connection to the peer; false: no room
	Refuse   func(from peer.ID, reason string, err error) // counts a peer's misbehaviour
	Options  []pubsub.Option                              // options besides the mesh's own
}

// Mesh is the node's end of pubsub. Messages to send wait in a queue, from which one goroutine hands them to pubsub's
// own queue. When the queue is full, a message is dropped and counted. Pubsub's callbacks run on its goroutine, so
// they only post into the inbox and never wait.
type Mesh struct {
	peers
	cfg    Config
	ps     *pubsub.PubSub
	top    *pubsub.Topic
	sub    *pubsub.Subscription
	outbox chan *outgoing

	closing atomic.Bool // no stream is opened any more

	bus       event.Bus     // bus on which pubsub learns of peers' protocols
	protocols event.Emitter // emits changes of these protocols on bus
}

// outgoing is a message to send: parts of a group for one peer; or, without a group, the report that the peer
// misbehaved. Catalogues wait elsewhere.
type outgoing struct {
	to    peer.ID
	group string
	parts []byte
}

const outboxSize = 1024 // most outgoing messages that wait

// New returns a mesh. Messages sent before Start wait until then.
func New(cfg Config) *Mesh {
	return &Mesh{cfg: cfg, outbox: make(chan *outgoing, outboxSize), peers: newPeers()}
}

// Start joins the topic. Close must follow, also after an error.
func (m *Mesh) Start() (err error) {
	ctx := m.cfg.Done
	m.bus = eventbus.NewBus()
	if m.protocols, err = m.bus.Emitter(new(event.EvtPeerProtocolsUpdated)); err != nil {
		return fmt.Errorf("mesh: event bus: %w", err)
	}
	ext := &extension{
		Logger:             m.cfg.Log,
		OnIncomingRPC:      m.received,
		OnEmitGossip:       m.gossip,
		GroupTTLByHeatbeat: groupTTL,
	}
	ps, err := pubsub.NewGossipSub(ctx, watchedHost{m.cfg.Host, m}, append([]pubsub.Option{
		Gossip(),
		pubsub.WithPartialMessagesExtension(ext),
		pubsub.WithLogger(m.cfg.Log.With("topic", m.cfg.Topic)),
		pubsub.WithRawTracer(&tracer{m: m}),
		pubsub.WithMaxMessageSize(maxRPC),
		pubsub.WithPeerOutboundQueueSize(rpcQueue),
		pubsub.WithPeerFilter(func(p peer.ID, _ string) bool { return m.cfg.Linked(p) }),
		pubsub.WithSubscriptionFilter(pubsub.NewAllowlistSubscriptionFilter(m.cfg.Topic)),
		pubsub.WithAppSpecificRpcInspector(m.inspect),
		pubsub.WithPeerScore(scores(m.cfg.Topic)),
		pubsub.WithGossipSubParams(gossipParams()),
	}, m.cfg.Options...)...)
	if err != nil {
		return fmt.Errorf("mesh: pubsub: %w", err)
	}
	m.ps = ps
	if m.top, err = ps.Join(m.cfg.Topic, pubsub.RequestPartialMessages()); err != nil {
		return fmt.Errorf("mesh: pubsub: %w", err)
	}
	if m.sub, err = m.top.Subscribe(); err != nil {
		return fmt.Errorf("mesh: pubsub: %w", err)
	}
	m.cfg.Tasks.Run(m.deliver)
	m.cfg.Tasks.Run(m.meetAgain)
	return nil
}

// Gossip makes pubsub speak gossipsub under the nodes' protocol id.
func Gossip() pubsub.Option {
	return pubsub.WithGossipSubProtocols([]protocol.ID{ProtocolID}, features)
}

// features returns the features of gossipsub's version under an id of the node's own.
func features(f pubsub.GossipSubFeature, id protocol.ID) bool {
	return pubsub.GossipSubDefaultFeatures(f, protocol.ID(strings.TrimPrefix(string(id), "/venn")))
}

// gossipParams returns pubsub's parameters with two changes. A pruned peer may come back after 10 s, not a minute,
// because a network that forms around a few known peers prunes many at first. No goroutine dials the peers that
// pubsub's messages name, because the node dials by its own rules.
func gossipParams() pubsub.GossipSubParams {
	p := pubsub.DefaultGossipSubParams()
	p.PruneBackoff = 10 * time.Second
	p.Connectors = 0
	return p
}

// scores makes pubsub remove a peer from the mesh after invalid messages, and ignore it after ten within a few
// minutes. Nothing else counts; in particular many peers may share an address. No score is above 0, so pubsub does not
// read the peers that a prune names.
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
	thresholds := &pubsub.PeerScoreThresholds{GossipThreshold: -20, PublishThreshold: -50, GraylistThreshold: -100, AcceptPXThreshold: 1}
	return params, thresholds
}

// Close leaves the topic. Once Done has ended as well, End must follow.
func (m *Mesh) Close() {
	m.cfg.Host.RemoveStreamHandler(ProtocolID)
	m.hangUp()
	if m.sub != nil {
		m.sub.Cancel()
		m.leave()
	}
}

// hangUp ends all streams of pubsub and prevents new ones. So no peer gets the message that this node leaves the
// topic. That message would ask not to graft again for 10 s, and keep a restarted node out of every mesh for as long.
func (m *Mesh) hangUp() {
	m.closing.Store(true)
	for _, c := range m.cfg.Host.Network().Conns() {
		for _, s := range c.GetStreams() {
			if s.Protocol() == ProtocolID {
				_ = s.Reset()
			}
		}
	}
}

// leave waits for up to some 100 ms until pubsub has left the topic; then pubsub no longer protects any peer.
func (m *Mesh) leave() {
	for range 100 {
		if m.top.Close() == nil || m.cfg.Done.Err() != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// End closes the emitter through which pubsub learns of peers.
func (m *Mesh) End() {
	if m.protocols != nil {
		_ = m.protocols.Close()
	}
}

// SendCatalogue sends a catalogue to a linked peer as soon as possible. If too many wait for the peer, the oldest are
// dropped and counted. Unlinked must follow.
func (m *Mesh) SendCatalogue(to peer.ID, catalogue []byte) {
	m.gaveWay(m.keep(to, catalogue))
}

// streamEnded puts back the catalogues that were sent on the ended stream to a peer.
func (m *Mesh) streamEnded(p peer.ID) { m.gaveWay(m.opened(p, false)) }

// gaveWay counts catalogues that were dropped.
func (m *Mesh) gaveWay(catalogues int) {
	for range catalogues {
		m.cfg.Counters.Drop("catalogues")
	}
}

// Unlinked drops the catalogues that wait for a peer, because the link has ended.
func (m *Mesh) Unlinked(p peer.ID) { m.forget(p) }

// SendParts queues parts of a group for a peer. If the queue is full, it drops them.
func (m *Mesh) SendParts(to peer.ID, group wire.GroupID, parts []byte) {
	m.send(outgoing{to: to, group: string(group[:]), parts: parts})
}

// Blame queues the report to pubsub that a peer misbehaved. If the queue is full, it drops the report.
func (m *Mesh) Blame(p peer.ID) { m.send(outgoing{to: p}) }

// Peers returns the peers that are subscribed to the topic.
func (m *Mesh) Peers() []peer.ID { return m.top.ListPeers() }

// Waiting returns the number of messages that wait to be sent, without catalogues.
func (m *Mesh) Waiting() int { return len(m.outbox) }

// send queues a message. If the queue is full, it drops the message and counts it.
func (m *Mesh) send(o outgoing) {
	select {
	case m.outbox <- &o:
	default:
		m.cfg.Counters.Drop("outbox")
	}
}

// deliver hands the queue's messages and the waiting catalogues to pubsub, in turns.
func (m *Mesh) deliver() {
	for {
		select {
		case <-m.cfg.Done.Done():
			return
		case <-m.wake:
			if p, ok := m.next(); ok {
				m.delivered(p, pubsub.PublishPartial(m.ps, m.cfg.Topic, []byte(wire.CatalogueGroup), m.announce(p)))
			}
		case o := <-m.outbox:
			if o.group == "" {
				m.delivered(o.to, m.ps.PeerFeedback(m.cfg.Topic, o.to, pubsub.PeerFeedbackInvalidMessage))
			} else {
				m.delivered(o.to, pubsub.PublishPartial(m.ps, m.cfg.Topic, []byte(o.group), m.only(o)))
			}
		}
	}
}

func (m *Mesh) delivered(to peer.ID, err error) {
	if err != nil && m.cfg.Done.Err() == nil {
		m.cfg.Log.Debug("pubsub", "peer", to, "err", err)
	}
}

// only returns the action that sends a message to its one peer. It leaves no state of the group behind in pubsub.
func (m *Mesh) only(o *outgoing) partialmessages.PublishActionsFn[struct{}] {
	return func(states map[peer.ID]struct{}, requests func(peer.ID) bool) iter.Seq2[peer.ID, partialmessages.PublishAction] {
		clear(states)
		return func(yield func(peer.ID, partialmessages.PublishAction) bool) {
			if !requests(o.to) {
				m.cfg.Counters.Drop("not subscribed")
				return
			}
			yield(o.to, partialmessages.PublishAction{EncodedPartialMessage: o.parts})
		}
	}
}

// announce returns the action that sends a peer its waiting catalogues, as far as possible now.
func (m *Mesh) announce(to peer.ID) partialmessages.PublishActionsFn[struct{}] {
	return func(states map[peer.ID]struct{}, requests func(peer.ID) bool) iter.Seq2[peer.ID, partialmessages.PublishAction] {
		clear(states)
		return func(yield func(peer.ID, partialmessages.PublishAction) bool) {
			if !requests(to) {
				return
			}
			for c, ok := m.take(to); ok; c, ok = m.take(to) {
				if !yield(to, partialmessages.PublishAction{EncodedPartsMetadata: c}) {
					return // the rest goes on waiting
				}
			}
		}
	}
}

// gossip does nothing when pubsub asks for gossip to peers outside of the mesh: catalogues go to chosen peers instead.
func (m *Mesh) gossip(_ string, _ []byte, _ []peer.ID, states map[peer.ID]struct{}) { clear(states) }

// inspect checks an RPC before pubsub handles it. An error makes pubsub drop the whole RPC, and keep no state for it.
// It is an error if the partial message is of another topic, of an unknown form, or over the limits. The partial message
// of a peer for whose link there is no room is dropped: so those that wait for the loop are shared as links are.
func (m *Mesh) inspect(from peer.ID, rpc *pubsub.RPC) error {
	m.cfg.Counters.Count(from, ProtocolID, 0, sizeRPC(rpc))
	if len(rpc.GetControl().GetGraft()) > 0 {
		m.link(from) // pubsub refuses the graft of a peer without a link, which never repeats it
	}
	if subs := rpc.GetSubscriptions(); len(subs) > 0 {
		m.said(from, subs)
		m.again(from)
	}
	if len(rpc.Publish) > 0 {
		// Nobody needs ordinary messages. Pubsub would verify their signatures, by keys of any kind.
		rpc.Publish = nil
		m.cfg.Counters.Drop("messages")
	}
	p := rpc.GetPartial()
	if p == nil {
		return nil
	}
	if err := m.check(p); errors.Is(err, wire.ErrLater) {
		m.cfg.Counters.Drop("later")
		return err
	} else if err != nil {
		m.cfg.Refuse(from, "rpc "+reasonRPC(err), err)
		return err
	}
	switch {
	case !m.link(from):
		rpc.Partial = nil
		m.cfg.Counters.Drop("partials")
	case string(p.GroupID) != wire.CatalogueGroup:
		// Pubsub bounds the groups that all peers together begin between two heartbeats. So parts of all groups are one
		// group for pubsub, without a name. The name is in the metadata, which parts have none of.
		p.GroupID, p.PartsMetadata = nil, p.GroupID
	}
	return nil
}

// link reports whether a peer has a link. It makes one if there is room: the peer sends only to links what needs one, so
// its hello may still be on the way.
func (m *Mesh) link(p peer.ID) bool { return m.cfg.Linked(p) || m.cfg.Link(p) }

var (
	errTopic = errors.New("mesh: partial message of a topic never joined")
	errSize  = errors.New("mesh: partial message over the limit")
)

// check returns the fault of a partial message. Unknown groups, and unknown uses of a group, come from a later
// version: the error is then wire.ErrLater.
func (m *Mesh) check(p *pb.PartialMessagesExtension) error {
	catalogue := string(p.GroupID) == wire.CatalogueGroup
	switch {
	case p.GetTopicID() != m.cfg.Topic:
		return errTopic
	case !catalogue && len(p.GroupID) != len(wire.GroupID{}):
		return fmt.Errorf("%w: group of %d bytes", wire.ErrLater, len(p.GroupID))
	case len(p.PartsMetadata) > wire.MaxCatalogue || len(p.PartialMessage) > wire.MaxPartsRPC:
		return errSize
	case catalogue && len(p.PartialMessage) > 0 || !catalogue && len(p.PartsMetadata) > 0:
		return fmt.Errorf("%w: parts with metadata, or a catalogue with parts", wire.ErrLater)
	}
	return nil
}

func reasonRPC(err error) string {
	if errors.Is(err, errTopic) {
		return "topic"
	}
	return "over the limit"
}

// received decodes a partial message and posts it into the inbox. It runs on pubsub's goroutine.
func (m *Mesh) received(from peer.ID, states map[peer.ID]struct{}, rpc *pb.PartialMessagesExtension) error {
	clear(states)
	msg, err := decodePartial(from, rpc)
	if errors.Is(err, wire.ErrLater) {
		m.cfg.Counters.Drop("later")
		return nil
	}
	if err != nil {
		reason, _ := counters.Fault(err)
		m.cfg.Refuse(from, "rpc "+reason, err)
		return err
	}
	msg.Came = m.cfg.Now()
	if !m.cfg.Inbox.OfferMessage(msg) {
		m.cfg.Counters.Drop("partials")
	}
	return nil
}

func decodePartial(from peer.ID, rpc *pb.PartialMessagesExtension) (p inbox.Message, err error) {
	p.From, p.Bytes = from, protowire.SizeBytes(1+protowire.SizeBytes(proto.Size(rpc)))
	if string(rpc.GroupID) == wire.CatalogueGroup {
		p.Catalogue, err = wire.ParseCatalogue(rpc.PartsMetadata)
		return p, err
	}
	parts, err := wire.ParseParts(rpc.PartialMessage, wire.MaxPartsRPC)
	if err == nil && parts.Refused {
		err = fmt.Errorf("%w: refusal of what was not asked for on a stream", wire.ErrMalformed)
	}
	p.Group, p.Parts = wire.GroupID(rpc.PartsMetadata), &parts
	return p, err
}

// sizeRPC returns the number of bytes of an RPC on a stream, with its length.
func sizeRPC(rpc *pubsub.RPC) int {
	return protowire.SizeBytes(proto.Size(&rpc.RPC))
}

// tracer gets from pubsub the changes of its mesh, and every RPC. It runs on pubsub's goroutine.
type tracer struct{ m *Mesh }

// OnNewOutboundStream charges the peer for pubsub's first message, the subscription and its flags, which is not
// traced.
func (t *tracer) OnNewOutboundStream(p peer.ID, _ protocol.ID) {
	size := len(t.m.cfg.Topic) + 20
	t.m.cfg.Counters.Count(p, ProtocolID, size, 0)
	t.m.cfg.Inbox.Charged(p, size)
	t.m.opened(p, true)
	t.m.again(p)
}

// OnClosedOutboundStream records that the peer has left the mesh, because pubsub does not call Prune then.
func (t *tracer) OnClosedOutboundStream(p peer.ID) {
	t.m.streamEnded(p)
	t.m.cfg.Host.ConnManager().Unprotect(p, "pubsub:"+t.m.cfg.Topic) // pubsub forgets this
	t.m.cfg.Inbox.MeshChanged(p, inbox.Ended)
	if t.m.cfg.Host.Network().Connectedness(p) == network.Connected {
		t.m.repeat(p)
	}
}

func (t *tracer) Graft(p peer.ID, _ string) { t.m.cfg.Inbox.MeshChanged(p, inbox.Begun) }
func (t *tracer) Prune(p peer.ID, _ string) { t.m.cfg.Inbox.MeshChanged(p, inbox.Ended) }

// SendRPC counts the bytes of an RPC. An RPC that the core has not ordered is charged to the peer's budget.
func (t *tracer) SendRPC(rpc *pubsub.RPC, p peer.ID) {
	size := sizeRPC(rpc)
	t.m.cfg.Counters.Count(p, ProtocolID, size, 0)
	if rpc.Partial == nil {
		t.m.cfg.Inbox.Charged(p, size)
	}
}

func (t *tracer) DropRPC(rpc *pubsub.RPC, p peer.ID) {
	if rpc.Partial == nil {
		t.m.cfg.Counters.Drop("pubsub control")
		return
	}
	t.m.cfg.Inbox.Lost(p)
	if string(rpc.Partial.GroupID) == wire.CatalogueGroup {
		t.m.gaveWay(t.m.refused(p, rpc.Partial.PartsMetadata))
		return
	}
	t.m.cfg.Counters.Drop("pubsub partial")
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
