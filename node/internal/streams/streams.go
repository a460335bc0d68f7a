// Package streams opens and serves the streams of a node's protocols. They carry framed messages under deadlines. Their
// bytes are counted. Places bound the memory of messages that come, by package admit.
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
	"github.com/venn-p2p/venn/node/internal/tasks"
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// OpenTime is the longest time for opening a stream, and for the dial before it.
	OpenTime = 10 * time.Second
	// IOTime is the longest time for reading or writing a short message.
	IOTime = 10 * time.Second
	// TransferTime is the longest time for a run of parts; the slowest links (64 kbit/s) carry one in that time.
	TransferTime = 70 * time.Second
)

// Node holds the parameters that all streams of a node share. The node sets them.
type Node struct {
	Host     host.Host
	Service  string                          // name of the service for the resource manager
	Versions func(protocol.ID) []protocol.ID // returns the ids on the wire of a protocol, the newest version first
	Done     context.Context                 // ends with the node
	Log      *slog.Logger
	Tasks    *tasks.Group
	Counters *counters.Counters
	Relayed  func(protocol.ID) bool // reports whether a protocol may go over a relay
	Lasting  func(protocol.ID) bool // reports whether streams of a protocol stay open without use
	// Use is called when a stream with the peer begins to be in use; done ends the use. An inbound stream, which the
	// peer opened, is in use once its first message was read: bytes that trickle in keep no link alive. Use is not
	// called for lasting streams.
	Use    func(p peer.ID, inbound bool) (done func())
	Admit  *admit.Table                                 // admits the streams that peers open
	Refuse func(from peer.ID, reason string, err error) // called when a peer misbehaves
	Barred func(peer.ID) bool                           // reports whether a peer must not be served
	MayAsk func(peer.ID) bool                           // reports whether streams to a peer may be opened
	// Patience returns the time that a peer may take for the first byte of an answer. After that time, Quiet is called
	// with the stream's connection, on a goroutine of its own. Neither is called for lasting streams.
	Patience func(peer.ID) time.Duration
	Quiet    func(network.Conn)
}

// Stream is a libp2p stream of a Node. It carries framed messages under deadlines, and its bytes are counted.
type Stream struct {
	network.Stream
	Peer   peer.ID
	n      *Node
	id     protocol.ID
	ctx    context.Context // ends with the node, or when the stream must give way to another
	unhook func() bool
	// Called when an inbound stream begins to be in use; nil: not to be called, or called already
	use      func() (unused func())
	unused   func()
	quiet    *time.Timer   // fires if the first byte of an answer is late; nil: no answer is awaited
	admitted *admit.Stream // for a stream that the peer opened; else nil
}

// Who returns the peer that opened the stream as a principal.
func (s *Stream) Who() admission.Principal { return s.admitted.Who() }

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

// PayLate waits until work may be done for the peer that opened the stream, and charges the peer. It returns an error
// if the stream ends first.
func (s *Stream) PayLate(work time.Duration) error { return s.admitted.PayLate(s.ctx, work) }

// Context returns a context that ends with the node, or when the stream must give way to another peer's.
func (s *Stream) Context() context.Context { return s.ctx }

// wrap makes a Stream of a libp2p stream. End must follow.
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

// Open opens a stream to a peer on an existing connection, by the newest version of a protocol that both ends speak. If
// the peer speaks none, Open or the first read returns an error. End must follow.
func (n *Node) Open(ctx context.Context, p peer.ID, id protocol.ID) (*Stream, error) {
	if !n.MayAsk(p) {
		return nil, fmt.Errorf("%w: %s", ErrFiltered, p)
	}
	if n.Relayed(id) {
		ctx = network.WithAllowLimitedConn(ctx, n.Service)
	}
	ctx, cancel := context.WithTimeout(network.WithNoDial(ctx, "venn dials by certified addresses"), OpenTime)
	defer cancel()
	s, err := n.open(ctx, p, id)
	if err != nil {
		return nil, fmt.Errorf("streams: open %s to %s: %w", id, p, err)
	}
	w, err := n.wrap(n.Done, s, id, false)
	if err == nil && !n.Lasting(id) {
		w.quiet = time.AfterFunc(n.Patience(p), func() { n.Quiet(s.Conn()) })
	}
	return w, err
}

// heard stops the timer for the first byte of an answer.
func (s *Stream) heard() {
	if s.quiet != nil {
		s.quiet.Stop()
	}
}

// End closes the stream, or resets it if err is not nil.
func (s *Stream) End(err error) {
	s.unhook()
	s.unused()
	s.heard()
	if err != nil {
		_ = s.Reset()
		return
	}
	_ = s.Close()
}

// Read reads from the stream, counts the bytes, and waits until the peer has paid for them.
func (s *Stream) Read(b []byte) (int, error) {
	k, err := s.Stream.Read(b)
	s.heard()
	s.n.Counters.Count(s.Peer, s.id, 0, k)
	if s.admitted != nil {
		_ = s.admitted.PayLate(s.ctx, s.admitted.Reading(k)) // the end of ctx ends the stream
	}
	return k, err
}

// Write writes to the stream, and counts the bytes.
func (s *Stream) Write(b []byte) (int, error) {
	k, err := s.Stream.Write(b)
	s.n.Counters.Count(s.Peer, s.id, k, 0)
	return k, err
}

// Send sends one short message.
func (s *Stream) Send(msg []byte) error { return s.SendWithin(msg, IOTime) }

// SendWithin sends one message, within d.
func (s *Stream) SendWithin(msg []byte, d time.Duration) error {
	if err := s.SetWriteDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	return wire.WriteFrame(s, msg)
}

// Receive reads one message of at most limit bytes, within d.
func (s *Stream) Receive(limit int, d time.Duration) ([]byte, error) {
	if err := s.SetReadDeadline(time.Now().Add(d)); err != nil {
		return nil, err
	}
	msg, err := wire.ReadFrame(s, limit, s.takes)
	if err == nil && s.use != nil {
		s.unused, s.use = s.use(), nil
	}
	return msg, err
}

// takes takes a place for a message of the given size on a stream that the peer opened.
func (s *Stream) takes(bytes int) error {
	if s.admitted != nil && !s.admitted.Takes(bytes) {
		return ErrBusy
	}
	return nil
}

// readAhead is the number of bytes read at a time from messages that follow each other.
const readAhead = 1 << 10

// Each calls take with each message of at most limit bytes, until the other end closes the stream. It waits for a
// message without a time limit.
func (s *Stream) Each(limit int, take func(msg []byte) error) error {
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

// Served returns a handler for the streams of a protocol that peers open. It admits each stream, calls handle, and
// handles its errors.
func (n *Node) Served(id protocol.ID, handle func(*Stream) error) network.StreamHandler {
	return func(raw network.Stream) {
		raw = admit.Unpaid(raw)
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
		if errors.Is(err, wire.ErrLater) { // an unknown message gets no answer
			n.Counters.Drop("later")
			err = nil
		}
		s.End(err)
		if err == nil {
			return
		}
		if reason, bad := counters.Fault(err); bad {
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

// ErrBusy means that a queue of the loop is full, or that a peer asks for more than its share.
var ErrBusy = errors.New("streams: busy")
