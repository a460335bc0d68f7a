// Package streams opens and serves the streams of a node's protocols: framed messages under deadlines, in the scope of
// the resource manager, counted.
package streams

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/node/internal/fault"
	"github.com/venn-p2p/venn/node/internal/tasks"
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// OpenTime is for opening a stream, with dialling.
	OpenTime = 10 * time.Second
	// IOTime is the limit of one read or write of a short message.
	IOTime = 10 * time.Second
	// TransferTime is the limit of a run of parts; the slowest links (64 kbit/s) carry one in that time.
	TransferTime = 70 * time.Second
)

// Node holds the streams' parameters, which their node sets.
type Node struct {
	Host     host.Host
	Service  string                          // for the resource manager
	Versions func(protocol.ID) []protocol.ID // returns the ids on the wire of a protocol, the newest version first
	Done     context.Context                 // ends with the node
	Log      *slog.Logger
	Tasks    *tasks.Group
	Counters *counters.Counters
	Relayed  func(protocol.ID) bool // reports whether a protocol may go over a relay
	Lasting  func(protocol.ID) bool // reports whether streams of a protocol stay open without use
	// Use notes that a stream with the peer, which opened it if it is inbound, is in use until done. An inbound one is so
	// from when its first message is there: bytes that trickle in keep no link. Use does not hear of lasting streams.
	Use    func(p peer.ID, inbound bool) (done func())
	Admit  *admit.Table                                 // decides over the streams that peers open
	Refuse func(from peer.ID, reason string, err error) // is called when a peer misbehaves
	Barred func(peer.ID) bool                           // reports whether a peer is not served
	MayAsk func(peer.ID) bool                           // reports whether streams to a peer may be opened
	// Patience returns the time that a peer may take for the first byte of an answer. After it, Quiet is called with
	// the connection of the stream, and may take any time. Neither is called for lasting streams.
	Patience func(peer.ID) time.Duration
	Quiet    func(network.Conn)
}

// Stream is a libp2p stream that carries framed messages under deadlines, in the resource manager's scope, counted.
type Stream struct {
	network.Stream
	Peer     peer.ID
	n        *Node
	id       protocol.ID
	reserved int
	ctx      context.Context // ends with the node, or when the stream has to give way
	unhook   func() bool
	use      func() (unused func()) // to be called when an inbound stream is in use; nil: never, or it was
	unused   func()
	quiet    *time.Timer   // until the first byte of an answer; nil: none is waited for
	admitted *admit.Stream // of a stream that the peer opened
}

// Group returns the group of the address from which the peer opened the stream.
func (s *Stream) Group() string { return s.admitted.Group() }

// Linked reports whether the peer that opened the stream is linked now.
func (s *Stream) Linked() bool { return s.admitted.Linked() }

// payTime is the longest time that a request waits until its peer may have it served.
const payTime = time.Second

// Pay waits until work may be done for the peer that opened the stream, and returns ErrBusy after payTime. Everything
// that a request makes the node do is paid before it is done. Requests that cannot be paid at once are not refused: a
// peer that asks for more than its share would then spend the share on the bytes of its requests.
func (s *Stream) Pay(work time.Duration) error {
	ctx, cancel := context.WithTimeout(s.ctx, payTime)
	defer cancel()
	if s.admitted.PayLate(ctx, work) != nil {
		return ErrBusy
	}
	return nil
}

// PayLate waits until work may be done for the peer that opened the stream, which pays for it then. The error is the
// reason why the stream ends.
func (s *Stream) PayLate(work time.Duration) error { return s.admitted.PayLate(s.ctx, work) }

// Wait waits for a place among others than the streams' places. evict is called when another peer gets it. The error is
// ctx's.
func (s *Stream) Wait(ctx context.Context, places *admission.Slots, evict func()) (*admission.Slot, error) {
	return s.admitted.Wait(ctx, places, evict)
}

// Context ends with the node, and when the stream has to give way to another's.
func (s *Stream) Context() context.Context { return s.ctx }

// wrap puts a stream under the node's care. End must follow.
func (n *Node) wrap(ctx context.Context, s network.Stream, id protocol.ID, inbound bool) (*Stream, error) {
	if err := s.Scope().SetService(n.Service); err != nil {
		_ = s.Reset()
		return nil, fmt.Errorf("streams: %s: %w", id, err)
	}
	w := &Stream{Stream: s, n: n, Peer: s.Conn().RemotePeer(), id: id, ctx: ctx}
	w.unhook, w.unused = context.AfterFunc(ctx, func() { _ = s.Reset() }), func() {}
	switch {
	case n.Lasting(id):
	case inbound:
		w.use = func() func() { return n.Use(w.Peer, true) }
	default:
		w.unused = n.Use(w.Peer, false)
	}
	return w, nil
}

// Open opens a stream to a peer, on a connection that exists, by the newest version of a protocol that both speak. End
// must follow.
func (n *Node) Open(ctx context.Context, p peer.ID, id protocol.ID) (*Stream, error) {
	if !n.MayAsk(p) {
		return nil, fmt.Errorf("%w: %s", ErrFiltered, p)
	}
	if n.Relayed(id) {
		ctx = network.WithAllowLimitedConn(ctx, n.Service)
	}
	ctx, cancel := context.WithTimeout(network.WithNoDial(ctx, "venn dials by certified addresses"), OpenTime)
	defer cancel()
	s, err := n.Host.NewStream(ctx, p, n.Versions(id)...)
	if err != nil {
		return nil, fmt.Errorf("streams: open %s to %s: %w", id, p, err)
	}
	w, err := n.wrap(n.Done, s, id, false)
	if err == nil && !n.Lasting(id) {
		w.quiet = time.AfterFunc(n.Patience(p), func() { n.Quiet(s.Conn()) })
	}
	return w, err
}

// heard notes that an answer has begun to come, or is no longer waited for.
func (s *Stream) heard() {
	if s.quiet != nil {
		s.quiet.Stop()
	}
}

// End closes the stream in good order, or resets it if err is not nil.
func (s *Stream) End(err error) {
	s.unhook()
	s.unused()
	s.heard()
	s.release()
	if err != nil {
		_ = s.Reset()
		return
	}
	_ = s.Close()
}

// release gives back the memory of messages.
func (s *Stream) release() {
	if s.reserved > 0 {
		s.Scope().ReleaseMemory(s.reserved)
		s.reserved = 0
	}
}

// Read reads, and counts.
func (s *Stream) Read(b []byte) (int, error) {
	k, err := s.Stream.Read(b)
	s.heard()
	s.n.Counters.Count(s.Peer, s.id, 0, k)
	if s.admitted != nil {
		_ = s.admitted.PayLate(s.ctx, s.admitted.Reading(k)) // the end of ctx ends the stream
	}
	return k, err
}

// Write writes, and counts.
func (s *Stream) Write(b []byte) (int, error) {
	k, err := s.Stream.Write(b)
	s.n.Counters.Count(s.Peer, s.id, k, 0)
	return k, err
}

// Send sends one short message.
func (s *Stream) Send(msg []byte) error { return s.SendWithin(msg, IOTime) }

// SendWithin sends one message, for which it takes up to d.
func (s *Stream) SendWithin(msg []byte, d time.Duration) error {
	if err := s.SetWriteDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	return wire.WriteFrame(s, msg)
}

// Receive reads one message of at most limit bytes, for which it reserves the memory first: that of the message before
// is given back. It waits up to d for it.
func (s *Stream) Receive(limit int, d time.Duration) ([]byte, error) {
	s.release()
	if err := s.SetReadDeadline(time.Now().Add(d)); err != nil {
		return nil, err
	}
	msg, err := wire.ReadFrame(s, limit, func(bytes int) error {
		if err := s.takes(bytes); err != nil {
			return err
		}
		if err := s.Scope().ReserveMemory(bytes, network.ReservationPriorityMedium); err != nil {
			return err
		}
		s.reserved += bytes
		return nil
	})
	if err == nil && s.use != nil {
		s.unused, s.use = s.use(), nil
	}
	return msg, err
}

// takes takes a place for a message that the peer sends unasked.
func (s *Stream) takes(bytes int) error {
	if s.admitted != nil && !s.admitted.Takes(bytes) {
		return ErrBusy
	}
	return nil
}

// readAhead is the number of bytes read at a time from messages that follow each other.
const readAhead = 1 << 10

// Each reads messages of at most limit bytes and hands over each, until the stream ends in good order. It waits for
// each without a limit, and reserves the memory of one all the time.
func (s *Stream) Each(limit int, take func(msg []byte) error) error {
	if err := s.Scope().ReserveMemory(limit, network.ReservationPriorityMedium); err != nil {
		return err
	}
	s.reserved += limit
	r := bufio.NewReaderSize(s, readAhead)
	for {
		msg, err := wire.ReadFrame(r, limit, s.takes)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(msg)
		}
		if s.admitted != nil {
			s.admitted.Took()
		}
		if err != nil {
			return err
		}
	}
}

// Served hands the streams of a protocol that peers open to a handler, and handles its errors.
func (n *Node) Served(id protocol.ID, handle func(*Stream) error) network.StreamHandler {
	return func(raw network.Stream) {
		if !n.Tasks.Enter() {
			_ = raw.Reset()
			return
		}
		defer n.Tasks.Leave()
		if n.Barred(raw.Conn().RemotePeer()) {
			n.Counters.Refuse("offender")
			_ = raw.Reset()
			return
		}
		ctx, stop := context.WithCancel(n.Done)
		defer stop()
		admitted, ok := n.Admit.Enter(raw.Conn(), stop)
		if !ok {
			n.Counters.Drop("streams")
			_ = raw.Reset()
			return
		}
		defer admitted.Leave()
		s, err := n.wrap(ctx, raw, id, true)
		if err != nil {
			n.Counters.Refuse("resources")
			return
		}
		s.admitted = admitted
		if err = s.Pay(admit.Open); err == nil {
			err = handle(s)
		}
		if errors.Is(err, wire.ErrLater) { // it is answered with nothing
			n.Counters.Drop("later")
			err = nil
		}
		s.End(err)
		if err == nil {
			return
		}
		if reason, bad := fault.Of(err); bad {
			n.Refuse(s.Peer, string(id)+" "+reason, err)
			return
		}
		if errors.Is(err, ErrBusy) {
			n.Counters.Drop("requests")
		}
		n.Log.Debug("stream failed", "protocol", id, "peer", s.Peer, "err", err)
	}
}

// ErrFiltered means that the owner's filter excludes a peer.
var ErrFiltered = errors.New("streams: peer is filtered out")

// ErrBusy says that a queue of the loop is full, or that the peer asks for more than its share.
var ErrBusy = errors.New("streams: busy")
