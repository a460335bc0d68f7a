// Package admit has package overlay/admission decide over the inbound streams of a host: how many are open at a time,
// and what work they may cause. It is safe for concurrent use.
package admit

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/overlay/admission"
)

// The prices: what work for others takes of a processor, as far as it counts. Each is paid before the work is done.
const (
	Open      = 100 * time.Microsecond // a stream, whatever comes on it
	Key       = 40 * time.Microsecond  // looking up a key, a disk included
	Signature = 150 * time.Microsecond // verifying a signature of the dearer kinds of keys
	Search    = 500 * time.Microsecond // naming candidates, or searching for another peer
	Inquiry   = time.Millisecond       // naming peers, out of all that are known
	Listing   = time.Microsecond       // listing a key of our own
	RPC       = 10 * time.Microsecond  // an RPC of pubsub
	RPCByte   = 70 * time.Nanosecond   // a byte of one: its items are some 20 bytes each
)

// Pool is what linked peers, or strangers, have in all.
type Pool struct {
	Work  float64 // seconds of work a second
	Slots int     // streams open at a time
}

// Config has the parameters of a [Table].
type Config struct {
	Links, Strangers Pool
	Linked           func(peer.ID) bool // reports whether there is a link with a peer
}

// Table admits streams and their work.
type Table struct {
	cfg   Config
	start time.Time

	mu               sync.Mutex
	gate             *admission.Gate
	links, strangers *admission.Slots
}

// New returns a table without streams.
func New(c Config) *Table {
	return &Table{
		cfg: c, start: time.Now(),
		gate:  admission.New(admission.Config{Links: c.Links.Work, Strangers: c.Strangers.Work}),
		links: admission.NewSlots(c.Links.Slots), strangers: admission.NewSlots(c.Strangers.Slots),
	}
}

// Stream is an inbound stream that is open.
type Stream struct {
	t    *Table
	who  admission.Principal
	slot *admission.Slot
	of   *admission.Slots
}

// Of returns who causes what comes on a connection, without a slot.
func (t *Table) Of(c network.Conn) *Stream {
	return &Stream{t: t, who: admission.Principal{
		Peer: string(c.RemotePeer()), Group: Group(c.RemoteMultiaddr()), Linked: t.cfg.Linked(c.RemotePeer()),
	}}
}

// Enter takes a slot for a stream that a peer has opened; ok is false if there is none. Leave must follow. evict is
// called when the slot is wanted for a peer that has fewer. It must not wait.
func (t *Table) Enter(c network.Conn, evict func()) (s *Stream, ok bool) {
	s = t.Of(c)
	if s.of = t.strangers; s.who.Linked {
		s.of = t.links
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.slot = s.of.Take(s.who, evict)
	return s, s.slot != nil
}

// Leave gives the slot back.
func (s *Stream) Leave() {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	if s.slot != nil {
		s.of.Release(s.slot)
	}
}

// Held returns how many streams are open.
func (t *Table) Held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.links.Held() + t.strangers.Held()
}

// Room has places for work that takes long, apart from those for streams.
type Room struct {
	t     *Table
	slots *admission.Slots
}

// Room returns a room with places.
func (t *Table) Room(places int) *Room { return &Room{t, admission.NewSlots(places)} }

// Held returns how many places are taken.
func (r *Room) Held() int {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return r.slots.Held()
}

// Enter waits for a place in a room for the peer that opened the stream. leave gives it back. evict is called as Enter of
// a table says. The error is that of ctx.
func (s *Stream) Enter(ctx context.Context, r *Room, evict func()) (leave func(), err error) {
	for {
		s.t.mu.Lock()
		slot := r.slots.Take(s.who, evict)
		s.t.mu.Unlock()
		if slot != nil {
			return func() {
				s.t.mu.Lock()
				defer s.t.mu.Unlock()
				r.slots.Release(slot)
			}, nil
		}
		select {
		case <-time.After(payPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Linked reports whether the peer was linked when it opened the stream.
func (s *Stream) Linked() bool { return s.who.Linked }

// Pay reports whether work may be done now for the peer that opened the stream. It counts against what the peer may
// cause.
func (s *Stream) Pay(work time.Duration) bool {
	who := s.who
	who.Linked = s.t.cfg.Linked(peer.ID(who.Peer)) // now: a stream may last
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.t.gate.Admit(time.Since(s.t.start), who, work)
}

// payPause is how long who waits to pay waits before it tries again.
const payPause = 10 * time.Millisecond

// PayLate pays as soon as the work may be done. The error is that of ctx, which ends the wait.
func (s *Stream) PayLate(ctx context.Context, work time.Duration) error {
	for work > 0 && !s.Pay(work) {
		select {
		case <-time.After(payPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Group is [admission.Group] of the address of a connection; "" if it is none by IP.
func Group(a multiaddr.Multiaddr) string {
	ip, err := manet.ToIP(a)
	if err != nil {
		return ""
	}
	return admission.Group(ip)
}
