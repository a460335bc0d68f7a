package mesh

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/venn-p2p/venn/node/internal/admit"
)

// watchedHost is the host that pubsub sees. It watches the streams that peers open, because pubsub does not report
// when it ends a stream because of an RPC that is too long or malformed.
type watchedHost struct {
	host.Host
	m *Mesh
}

var errClosing = errors.New("mesh: closing")

func (h watchedHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.Host.SetStreamHandler(id, h.watch(handle))
}

func (h watchedHost) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	h.Host.SetStreamHandlerMatch(id, match, h.watch(handle))
}

// NewStream opens a stream unless the mesh is closing. Negotiating may take seconds, in which the mesh may begin to close.
// The stream gets its protocol before NewStream checks closing again, and hangUp sets closing before it looks for
// streams. So one of the two resets the stream.
func (h watchedHost) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	if h.m.closing.Load() {
		return nil, errClosing
	}
	s, err := h.Host.NewStream(network.WithNoDial(ctx, "venn dials by certified addresses"), p, ids...)
	if err == nil && h.m.closing.Load() {
		_ = s.Reset()
		return nil, errClosing
	}
	return s, err
}

// watch delays a stream until pubsub has handled the end of the peer's last stream. Otherwise pubsub may handle that
// end after the first RPC of the new stream, and forget what that RPC said: the subscription, and that the peer can
// read partial messages.
func (h watchedHost) watch(handle network.StreamHandler) network.StreamHandler {
	return func(s network.Stream) {
		s = admit.Unpaid(s)
		p, in := s.Conn().RemotePeer(), &rpcStream{Stream: s, m: h.m, handled: make(chan struct{}), pays: h.m.cfg.Admit.Of(s.Conn())}
		if in.pays.PayLate(h.m.cfg.Done, admit.Open) != nil {
			_ = s.Reset()
			return
		}
		if !h.m.isOpen(p) {
			h.m.Meet(p)
		}
		if before := h.m.cameIn(p, in); before != nil {
			_ = before.Stream.Reset() // not before.Reset, which blames the peer
			<-before.handled
		}
		handle(in)
		h.m.wentOut(p, in)
		close(in.handled)
	}
}

// cameIn records a stream as the latest of a peer, and returns the last one.
func (m *Mesh) cameIn(p peer.ID, s *rpcStream) (before *rpcStream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.get(p)
	before, o.in = o.in, s
	return before
}

// wentOut records that a stream was handled to its end. If the peer has a later stream, that stays recorded.
func (m *Mesh) wentOut(p peer.ID, s *rpcStream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.of[p]
	if o == nil || o.in != s {
		return
	}
	// Pubsub reports the end of its own stream to the peer, if there is one.
	o.in = nil
	m.tidy(p)
}

// said records a peer's subscription to the topic, or its end.
func (m *Mesh) said(from peer.ID, subs []*pb.RPC_SubOpts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.of[from]
	if o == nil || o.in == nil { // its stream has ended meanwhile
		return
	}
	for _, sub := range subs {
		switch {
		case sub.GetTopicid() != m.cfg.Topic:
		case sub.GetSubscribe():
			o.in.subscribes = &pb.RPC_SubOpts{ // not sub itself: it may carry a mebibyte of unknown fields
				Topicid: sub.Topicid, Subscribe: sub.Subscribe,
				RequestsPartial: sub.RequestsPartial, SupportsSendingPartial: sub.SupportsSendingPartial,
			}
		default:
			o.in.subscribes = nil
		}
	}
}

// repeat makes pubsub read a peer's subscription again. Pubsub forgets the subscription when its stream to the peer
// ends, and the peer does not repeat it while its own stream lasts.
func (m *Mesh) repeat(p peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.of[p]
	if o == nil || o.in == nil || o.in.subscribes == nil {
		return
	}
	rpc, err := proto.Marshal(&pb.RPC{Subscriptions: []*pb.RPC_SubOpts{o.in.subscribes}})
	if err != nil {
		m.cfg.Log.Debug("a subscription is lost", "peer", p, "err", err)
		return
	}
	o.in.insert(protowire.AppendBytes(nil, rpc))
}

// rpcStream is a stream of RPCs that a peer sends. One goroutine reads it; others may reset it, or insert an RPC.
type rpcStream struct {
	network.Stream
	m          *Mesh
	pays       *admit.Stream
	handled    chan struct{}   // closed when pubsub has handled the stream to its end
	subscribes *pb.RPC_SubOpts // the peer's subscription to the topic; guarded by Mesh.mu
	// rounds of meetAgain in which pubsub had no stream to the peer; guarded by Mesh.mu
	rounds  uint
	frames  frames
	reading []byte                 // inserted bytes not read yet
	next    atomic.Pointer[[]byte] // inserted RPC, to be read before the next one of the peer
	waking  sync.Mutex             // guards woken and the deadline together
	woken   bool                   // a waiting Read was ended for an inserted RPC
	begun   atomic.Bool            // something was read
	waiting atomic.Bool            // a Read is under way
	over    atomic.Bool            // the stream's end has been reported or needs no report
}

// insert makes pubsub read an RPC, preceded by its length, as if the peer had sent it next.
func (s *rpcStream) insert(rpc []byte) {
	s.next.Store(&rpc)
	s.waking.Lock()
	defer s.waking.Unlock()
	s.woken = true
	_ = s.SetReadDeadline(time.Now()) // resumed takes it back
}

// resumed reports whether a Read ended because insert woke it. If so, it removes the deadline, so that the next one
// waits.
func (s *rpcStream) resumed() bool {
	s.waking.Lock()
	defer s.waking.Unlock()
	if !s.woken {
		return false
	}
	s.woken = false
	_ = s.SetReadDeadline(time.Time{})
	return true
}

// inserted copies inserted RPCs to b, between two RPCs of the peer. It does so only after the peer's first RPC, from
// which pubsub learns whether the peer can read partial messages.
func (s *rpcStream) inserted(b []byte) (k int) {
	if len(s.reading) == 0 && s.frames.between() && s.begun.Load() {
		if next := s.next.Swap(nil); next != nil {
			s.reading = *next
		}
	}
	k = copy(b, s.reading)
	s.reading = s.reading[k:]
	return k
}

var (
	errNoLink = errors.New("mesh: long RPC without a link")
	errBarred = errors.New("mesh: RPC of a barred peer")
)

// Read refuses an RPC that is over the limit as soon as its length is known, before pubsub allocates memory for it. It
// reads nothing of barred peers. While the peer may not cause more work, Read waits.
func (s *rpcStream) Read(b []byte) (int, error) {
	if k := s.inserted(b); k > 0 {
		return k, nil
	}
	s.waiting.Store(true)
	k, err := s.Stream.Read(b)
	before, most := s.frames.begun, uint64(maxRPC)
	if !s.pays.Linked() {
		most = strangerRPC
	}
	fits := s.frames.pass(b[:k], most)
	_ = s.pays.PayLate(s.m.cfg.Done, time.Duration(s.frames.begun-before)*admit.RPC+s.pays.Reading(k))
	s.waiting.Store(false)
	if k == 0 && err != nil && s.resumed() { // another error will come again
		return s.Read(b)
	}
	s.begun.Store(s.begun.Load() || k > 0)
	switch {
	case s.m.cfg.Barred(peer.ID(s.pays.Who().Peer)):
		s.over.Store(true)
		return 0, errBarred
	case !fits && s.frames.length <= maxRPC: // a link may just have ended
		s.m.cfg.Counters.Drop("rpcs")
		s.over.Store(true)
		return 0, errNoLink
	case !fits:
		s.refuse("over the limit")
	case err != nil:
		s.over.Store(true)
	}
	return k, err
}

// Reset resets the stream. If pubsub does so although no read has failed, the bytes read were malformed, and the peer
// is blamed.
func (s *rpcStream) Reset() error {
	if s.begun.Load() && !s.waiting.Load() && s.m.cfg.Done.Err() == nil {
		s.refuse("malformed")
	}
	return s.Stream.Reset()
}

func (s *rpcStream) refuse(reason string) {
	if !s.over.Swap(true) {
		s.m.cfg.Refuse(s.Conn().RemotePeer(), "rpc "+reason, nil)
	}
}

// frames follows the lengths of the RPCs on a stream.
type frames struct {
	left   uint64 // bytes of the current RPC still to be read
	length uint64 // the value of the length as far as it was read
	shift  uint
	begun  int // number of RPCs whose length was read
}

// between reports whether the stream is between two RPCs.
func (f *frames) between() bool { return f.left == 0 && f.shift == 0 }

// pass follows the lengths of RPCs through b, and reports whether all are at most most. After a length above that
// limit, what follows cannot be parsed.
func (f *frames) pass(b []byte, most uint64) bool {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, uint64(len(b)))
			f.left -= n
			b = b[n:]
			continue
		}
		f.length |= uint64(b[0]&0x7f) << f.shift
		f.shift += 7
		if f.length > most || f.shift > 63 {
			return false
		}
		if b[0] < 0x80 {
			*f = frames{left: f.length, begun: f.begun + 1}
		}
		b = b[1:]
	}
	return true
}
