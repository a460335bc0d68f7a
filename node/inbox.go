package node

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/summary"
)

// inbox is how everything reaches the loop. Each of its queues is bounded:
//
//   - commands, from the API: the caller waits, until its context ends. Nothing is dropped.
//   - results, of what the loop ordered: the goroutine that has one waits. Nothing is dropped.
//   - requests, streams that peers opened: when it is full the stream is refused, and counted.
//   - partials, pubsub's partial messages, at most 2048 and 8 MiB of them: when it is full the message is dropped, and
//     counted; the sender's next catalogue, or our next ask, makes up for it.
//   - states, of peers: the latest of each peer replaces the one before. Nothing is dropped; it grows with the peers alone.
type inbox struct {
	commands chan any
	results  chan any
	requests chan any
	partials chan partial
	waiting  atomic.Int64 // bytes of partials

	mu     sync.Mutex
	states map[peer.ID]peerState
	stir   chan struct{} // states, or something else that a pass of the loop looks at, has changed
}

// peerState is what has become of a peer since the loop last looked.
type peerState struct {
	link    change // the other end identified itself on a connection that is to be a link; the last connection closed
	mesh    change // pubsub grafted, pruned
	charged int    // bytes that pubsub sent it of its own accord
	lost    bool   // a message to it was dropped for want of room
}

type change uint8

const (
	unchanged change = iota
	begun
	ended
	endedAndBegun
)

// then is what follows from c and a later change.
func (c change) then(d change) change {
	if c == ended && d == begun || c == endedAndBegun && d == begun {
		return endedAndBegun
	}
	return d
}

func newInbox() *inbox {
	return &inbox{
		commands: make(chan any),
		results:  make(chan any, 64),
		requests: make(chan any, 64),
		partials: make(chan partial, 2048),
		states:   make(map[peer.ID]peerState),
		stir:     make(chan struct{}, 1),
	}
}

// command hands over a command and waits until the loop has taken it.
func (b *inbox) command(ctx, node context.Context, c any) error {
	select {
	case b.commands <- c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-node.Done():
		return ErrClosed
	}
}

// result hands over a result, or drops it if the node closes.
func (b *inbox) result(node context.Context, r any) {
	select {
	case b.results <- r:
	case <-node.Done():
	}
}

// offer hands over what may be dropped and says whether it was taken.
func offer(queue chan any, x any) bool {
	select {
	case queue <- x:
		return true
	default:
		return false
	}
}

// partial is a message of pubsub, decoded.
type partial struct {
	from      peer.ID
	bytes     int // on the wire
	catalogue []overlay.Item
	group     summary.GroupID
	parts     *wire.Parts // nil: it is a catalogue
	way       overlay.Way
	came      time.Duration
}

const maxWaiting = 8 << 20 // bytes of partials

// offerPartial hands over a message of pubsub and says whether there was room for it.
func (b *inbox) offerPartial(p partial) bool {
	if b.waiting.Add(int64(p.bytes)) <= maxWaiting {
		select {
		case b.partials <- p:
			return true
		default:
		}
	}
	b.waiting.Add(-int64(p.bytes))
	return false
}

// took notes that a message is no longer waiting.
func (b *inbox) took(p partial) { b.waiting.Add(-int64(p.bytes)) }

// change notes a change in the state of a peer.
func (b *inbox) change(p peer.ID, f func(*peerState)) {
	b.mu.Lock()
	s := b.states[p]
	f(&s)
	b.states[p] = s
	b.mu.Unlock()
	b.poke()
}

func (b *inbox) linkChanged(p peer.ID, c change) {
	b.change(p, func(s *peerState) { s.link = s.link.then(c) })
}

func (b *inbox) meshChanged(p peer.ID, c change) {
	b.change(p, func(s *peerState) { s.mesh = s.mesh.then(c) })
}

func (b *inbox) charged(p peer.ID, bytes int) {
	b.change(p, func(s *peerState) { s.charged += bytes })
}

func (b *inbox) lost(p peer.ID) {
	b.change(p, func(s *peerState) { s.lost = true })
}

func (b *inbox) poke() {
	select {
	case b.stir <- struct{}{}:
	default:
	}
}

// take empties the states, in the order of the peers' ids.
func (b *inbox) take(f func(peer.ID, peerState)) {
	b.mu.Lock()
	states := b.states
	b.states = make(map[peer.ID]peerState)
	b.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(states)) {
		f(p, states[p])
	}
}
