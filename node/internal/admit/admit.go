// Package admit admits the inbound streams of a host by package overlay/admission: how many are open at a time, and
// how much work they may cause. It is safe for concurrent use.
package admit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/overlay/admission"
)

// Prices of work for others, as processor time. Each is paid before the work is done.
const (
	Handshake      = 5 * time.Millisecond   // handshake of a connection with a key of any kind
	UsualHandshake = time.Millisecond       // handshake of a connection with usual keys
	Begin          = 100 * time.Microsecond // negotiating the protocol of a stream
	Frame          = 20 * time.Microsecond  // reading a frame of a connection
	// Byte is the price of reading a byte. [Muxer] charges it; on connections without one, [Stream.Reading] returns it.
	Byte      = 100 * time.Nanosecond
	Open      = 100 * time.Microsecond // opening a stream, whatever is sent on it; a write of a protocol without prices
	Key       = 40 * time.Microsecond  // looking up a key, on a disk if need be
	Signature = 150 * time.Microsecond // verifying a signature of the dearer kinds of keys
	Inquiry   = time.Millisecond       // naming peers, from all that are known
	Listing   = time.Microsecond       // listing a key of our own
	Position  = 50 * time.Nanosecond   // a position of a key in a filter of a join
	Coding    = 10 * time.Nanosecond   // coding a byte of a filter of a join, empty ones too
	RPC       = 10 * time.Microsecond  // an RPC of pubsub
)

// Short is the most bytes of a message that needs no place besides its stream's.
const Short = 4 << 10

// Table admits streams and their work.
type Table struct {
	linked func(peer.ID) bool
	start  time.Time
	long   *admission.Slots // places for long messages, shared by links and strangers
	host   network.Network  // that of the door; nil: none
	guards context.Context  // ends when the table guards the host no longer

	mu   sync.Mutex // guards the gate's work
	gate *admission.Gate
}

// New returns a table without streams, with the work and the places of [admission.New]. linked reports whether this node
// has a link with a peer.
func New(work float64, slots int, linked func(peer.ID) bool) *Table {
	return &Table{linked: linked, start: time.Now(), long: admission.NewSlots(slots / 2), gate: admission.New(work, slots)}
}

// Stream is an open inbound stream, or stands for the principal of a connection or a peer.
type Stream struct {
	t      *Table
	conn   network.Conn // nil: none
	who    admission.Principal
	slot   *admission.Slot
	long   *admission.Slot // place of a long message; nil: none
	evict  func()
	billed bool // the connection's [Muxer] charges for the bytes read
}

// Of returns the principal of messages on a connection, without a place for a stream.
func (t *Table) Of(c network.Conn) *Stream {
	var b *billed
	return &Stream{t: t, conn: c, billed: c.As(&b), who: admission.Principal{
		Peer: string(c.RemotePeer()), Group: Group(c.RemoteMultiaddr()), Linked: t.linked(c.RemotePeer()),
	}}
}

// Peer returns a connected peer as a principal, without a place for a stream.
func (t *Table) Peer(n network.Network, p peer.ID) *Stream {
	who := Principal(n, p)
	who.Linked = t.linked(p)
	return &Stream{t: t, who: who}
}

// Principal returns the principal of a peer, with the networks of a connection to it; "" without a connection.
// Linked is not set.
func Principal(n network.Network, p peer.ID) admission.Principal {
	who := admission.Principal{Peer: string(p)}
	if conns := n.ConnsToPeer(p); len(conns) > 0 {
		who.Group = Group(conns[0].RemoteMultiaddr())
	}
	return who
}

// negotiation is the number of a stream's first writes that [Begin] covers.
const negotiation = 2

// paid is a stream that a peer has opened, and pays for.
type paid struct {
	network.Stream
	by     *Stream
	ctx    context.Context // ends the payment
	writes atomic.Int32
}

// Paid returns a stream that a peer has opened such that the peer pays for what is read from it, and for each write
// after the choice of its protocol. So who asks for as much as it can gets no more than its share. A read or write waits
// for payment until the stream's connection or ctx ends.
func (t *Table) Paid(ctx context.Context, s network.Stream) network.Stream {
	if _, ok := s.(*paid); ok {
		return s
	}
	return &paid{Stream: s, by: t.Of(s.Conn()), ctx: ctx}
}

// Unpaid returns the stream below one of [Table.Paid], for a protocol that has prices of its own.
func Unpaid(s network.Stream) network.Stream {
	if p, ok := s.(*paid); ok {
		return p.Stream
	}
	return s
}

// Read reads from the stream, and waits until the peer has paid for the bytes.
func (p *paid) Read(b []byte) (int, error) {
	k, err := p.Stream.Read(b)
	_ = p.by.PayLate(p.ctx, p.by.Reading(k))
	return k, err
}

// Write writes to the stream once the peer has paid for it.
func (p *paid) Write(b []byte) (int, error) {
	if p.writes.Add(1) > negotiation {
		_ = p.by.PayLate(p.ctx, Open)
	}
	return p.Stream.Write(b)
}

// Enter takes a place for a stream that a peer has opened; ok is false if there is none. Leave must follow. Enter's
// table calls evict when the place goes to a peer that has fewer places. evict must not block.
func (t *Table) Enter(c network.Conn, evict func()) (s *Stream, ok bool) {
	s = t.Of(c)
	if in, ok := c.Scope().(*connection); ok {
		in.place.Use()
	}
	s.evict, s.slot = evict, t.gate.Take(s.who, evict)
	return s, s.slot != nil
}

// Leave gives back the stream's place, and that of its message.
func (s *Stream) Leave() {
	s.Took()
	if s.slot != nil {
		s.slot.Release()
	}
}

// Takes takes a place for a message of more than Short bytes, and reports whether there is one. These places are few,
// so that messages which arrive in part, and then stop, take little memory. Took gives the place back.
func (s *Stream) Takes(bytes int) bool {
	if bytes > Short && s.long == nil {
		s.long = s.t.long.Take(s.who, s.evict)
		return s.long != nil
	}
	return true
}

// Took gives back the place of a long message.
func (s *Stream) Took() {
	if s.long != nil {
		s.long.Release()
		s.long = nil
	}
}

// Held returns the number of open streams.
func (t *Table) Held() int { return t.gate.Held() }

// Wait waits for a place for a principal. The place's Release gives it back. For evict see [Table.Enter]. The error is
// ctx's.
func Wait(ctx context.Context, places *admission.Slots, who admission.Principal, evict func()) (*admission.Slot, error) {
	got := make(chan struct{})
	slot := places.Wait(who, evict, func() { close(got) })
	select {
	case <-got:
		return slot, nil
	case <-ctx.Done():
		slot.Release()
		return nil, ctx.Err()
	}
}

// Who returns the peer that opened the stream as a principal.
func (s *Stream) Who() admission.Principal { return s.who }

// Linked reports whether the peer that opened the stream is linked now.
func (s *Stream) Linked() bool { return s.t.linked(peer.ID(s.who.Peer)) }

// Pay reports whether work may be done now for the peer that opened the stream. If so, it charges the peer for the
// work.
func (s *Stream) Pay(work time.Duration) bool { return s.ask(work) == 0 }

// ask does what Pay does. It returns 0 if the peer has paid, else the time after which to ask again.
func (s *Stream) ask(work time.Duration) (wait time.Duration) {
	who := s.who
	who.Linked = s.Linked() // linked now: a stream may last longer than a link
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.t.gate.Ask(time.Since(s.t.start), who, work)
}

// Reading returns the price of bytes that were read from the stream: 0 if a [Muxer] charges for them.
func (s *Stream) Reading(bytes int) time.Duration {
	if s.billed {
		return 0
	}
	return time.Duration(bytes) * Byte
}

// PayLate waits until the work may be done, and charges the peer for it. If ctx ends first, it returns the error of
// ctx; if the connection is closed first, network.ErrReset, a second later at most.
func (s *Stream) PayLate(ctx context.Context, work time.Duration) error {
	for work > 0 {
		wait := s.ask(work)
		if wait == 0 {
			break
		}
		if s.conn != nil && s.conn.IsClosed() {
			return network.ErrReset
		}
		select {
		case <-time.After(min(wait, time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// refund gives back what the principal has paid for work that was not done. s may be nil.
func (s *Stream) refund(work time.Duration) {
	if s != nil {
		s.t.mu.Lock()
		defer s.t.mu.Unlock()
		s.t.gate.Charge(time.Since(s.t.start), s.who, -work)
	}
}

// Group returns the networks of a connection's address, by [admission.Group]; "" if it has no IP address.
func Group(a multiaddr.Multiaddr) string {
	ip, err := manet.ToIP(a)
	if err != nil {
		return ""
	}
	return admission.Group(ip)
}
