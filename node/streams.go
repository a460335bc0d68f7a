package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/summary"
)

const (
	openTime = 10 * time.Second // to open a stream, with dialling
	ioTime   = 10 * time.Second // for one read or write of a short message
	// transferTime is for a run of parts, which the slowest links (64 kbit/s) carry in it.
	transferTime = 70 * time.Second
)

// stream is a libp2p stream that carries framed messages under deadlines, in the resource manager's scope, counted.
type stream struct {
	network.Stream
	n        *Node
	peer     peer.ID
	id       protocol.ID
	reserved int
	unhook   func() bool
	unused   func()
}

// wrap puts a stream under the node's care. end must follow.
func (n *Node) wrap(s network.Stream, id protocol.ID) (*stream, error) {
	if err := s.Scope().SetService(ServiceName); err != nil {
		_ = s.Reset()
		return nil, fmt.Errorf("node: %s: %w", id, err)
	}
	w := &stream{Stream: s, n: n, peer: s.Conn().RemotePeer(), id: id}
	w.unhook = context.AfterFunc(n.ctx, func() { _ = s.Reset() })
	w.unused = n.conns.use(w.peer)
	return w, nil
}

// open opens a stream to a peer, on a connection that exists.
func (n *Node) open(ctx context.Context, p peer.ID, id protocol.ID) (*stream, error) {
	ctx, cancel := context.WithTimeout(network.WithNoDial(ctx, "venn dials by certified addresses"), openTime)
	defer cancel()
	s, err := n.host.NewStream(ctx, p, id)
	if err != nil {
		return nil, fmt.Errorf("node: open %s to %s: %w", id, p, err)
	}
	return n.wrap(s, id)
}

// end closes the stream in good order, or resets it if err says that something went wrong.
func (s *stream) end(err error) {
	s.unhook()
	s.unused()
	if s.reserved > 0 {
		s.Scope().ReleaseMemory(s.reserved)
	}
	if err != nil {
		_ = s.Reset()
		return
	}
	_ = s.Close()
}

func (s *stream) Read(b []byte) (int, error) {
	k, err := s.Stream.Read(b)
	s.n.counters.count(s.peer, s.id, 0, k)
	return k, err
}

func (s *stream) Write(b []byte) (int, error) {
	k, err := s.Stream.Write(b)
	s.n.counters.count(s.peer, s.id, k, 0)
	return k, err
}

func (s *stream) send(msg []byte) error { return s.sendWithin(msg, ioTime) }

func (s *stream) sendWithin(msg []byte, d time.Duration) error {
	if err := s.SetWriteDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	return wire.WriteFrame(s, msg)
}

// receive reads one message of at most limit bytes, for which it reserves the memory first. It waits up to d for it.
func (s *stream) receive(limit int, d time.Duration) ([]byte, error) {
	if err := s.SetReadDeadline(time.Now().Add(d)); err != nil {
		return nil, err
	}
	return wire.ReadFrame(s, limit, func(bytes int) error {
		if err := s.Scope().ReserveMemory(bytes, network.ReservationPriorityMedium); err != nil {
			return err
		}
		s.reserved += bytes
		return nil
	})
}

// receiveOnce is receive for one of many messages: the memory is given back before the next.
func (s *stream) receiveOnce(limit int, d time.Duration) ([]byte, error) {
	before := s.reserved
	b, err := s.receive(limit, d)
	if s.reserved > before {
		s.Scope().ReleaseMemory(s.reserved - before)
		s.reserved = before
	}
	return b, err
}

// served gives the streams of a protocol that peers open to a handler, and deals with its errors.
func (n *Node) served(id protocol.ID, handle func(*stream) error) network.StreamHandler {
	return func(raw network.Stream) {
		if !n.tasks.enter() {
			_ = raw.Reset()
			return
		}
		defer n.tasks.leave()
		s, err := n.wrap(raw, id)
		if err != nil {
			n.counters.refuse("resources")
			return
		}
		err = handle(s)
		s.end(err)
		if err == nil {
			return
		}
		if reason, bad := misbehaviour(err); bad {
			n.refuse(s.peer, string(id)+" "+reason, err)
			return
		}
		if errors.Is(err, errBusy) {
			n.counters.drop("requests")
		}
		n.log.Debug("stream failed", "protocol", id, "peer", s.peer, "err", err)
	}
}

// errBusy says that a queue of the loop is full.
var errBusy = errors.New("node: busy")

// misbehaviour says whether err is the other end's fault, and which.
func misbehaviour(err error) (reason string, bad bool) {
	switch {
	case errors.Is(err, wire.ErrLimit), errors.Is(err, summary.ErrLimit):
		return "over the limit", true
	case errors.Is(err, wire.ErrMalformed), errors.Is(err, summary.ErrMalformed):
		return "malformed", true
	case errors.Is(err, errSignature):
		return "signature", true
	}
	return "", false
}
