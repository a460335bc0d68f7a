// Package inbox has the queues into the loop that owns a node's core. Each queue is bounded, and says what happens to
// an item for which there is no room: its sender waits, it replaces the item before, or it is dropped and counted. No
// peer takes the turns of another. Adding and removing an item are O(1).
package inbox

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Inbox has all queues into the loop. Each is bounded:
//
//   - commands, from the API: the caller waits, until its context ends. Nothing is dropped.
//   - results, of what the loop ordered: the goroutine that has a result waits. Nothing is dropped.
//   - requests, on streams that peers opened: the stream waits. The places of streams bound the number that wait.
//   - messages: pubsub's partial messages and tails, at most 2048 and 8 MiB of them, shared among links, which take
//     turns. A peer has as much waiting as there is room left: alone half of all, each of n peers the (n+1)th part. A
//     message beyond that is dropped and counted. The sender's next catalogue, or our next ask, makes up for it. Tails
//     wait on their stream.
//   - states, of peers: the latest of each peer replaces the one before. Nothing is dropped; it grows with the peers
//     alone.
type Inbox struct {
	Commands chan any
	Results  chan any
	Requests chan any
	Messages chan struct{} // holds a value while messages wait; see [Inbox.Next]

	mu     sync.Mutex
	states map[peer.ID]PeerState
	queues map[peer.ID]queue
	turns  []peer.ID // peers with waiting messages, in the order of their turns

	messages, bytes int // in all queues

	Wakeup chan struct{} // holds a value after a change of states, or of anything else that each turn checks
}

// queue has a peer's waiting messages, in the order of arrival.
type queue struct {
	waiting []*Message
	bytes   int // of these
}

// PeerState collects what happened to a peer since the loop last took it.
type PeerState struct {
	// Begun: a connection that is to be a link was identified; ended: the last connection closed
	Link    Change
	Mesh    Change // begun: pubsub grafted the peer; ended: pubsub pruned it
	Charged int    // bytes that pubsub sent to the peer on its own
	Wanted  bool   // this node asked for the link that has begun
	Dropped bool   // the link gave way to another, or its connection is no longer the node's
	Lost    bool   // a message to the peer was dropped because a queue was full
	Unheard bool   // a message of tails to the peer was lost
}

// Change is the latest change since the loop last took a state.
type Change uint8

// The changes.
const (
	Unchanged Change = iota
	Begun
	Ended
	EndedAndBegun
)

// then returns the combination of c and a later change.
func (c Change) then(d Change) Change {
	if c == Ended && d == Begun || c == EndedAndBegun && d == Begun {
		return EndedAndBegun
	}
	return d
}

// New returns an empty inbox.
func New() *Inbox {
	return &Inbox{
		Commands: make(chan any),
		Results:  make(chan any, 64),
		Requests: make(chan any),
		Messages: make(chan struct{}, 1),
		states:   make(map[peer.ID]PeerState),
		queues:   make(map[peer.ID]queue),
		Wakeup:   make(chan struct{}, 1),
	}
}

// Command hands a command to the loop, and waits until the loop has taken it. If a context ends first, nothing is
// handed over. The error is ctx's, or the cause with which the context node ended.
func (b *Inbox) Command(ctx, node context.Context, c any) error {
	if ctx.Err() == nil && node.Err() == nil {
		select {
		case b.Commands <- c:
			return nil
		case <-ctx.Done():
		case <-node.Done():
		}
	}
	if node.Err() != nil { // ctx may have ended because the node has
		return context.Cause(node)
	}
	return ctx.Err()
}

// Result hands a result to the loop. It drops the result if the node ends first.
func (b *Inbox) Result(node context.Context, r any) {
	select {
	case b.Results <- r:
	case <-node.Done():
	}
}

// Request hands a peer's question on a stream to the loop, and waits until the loop has taken it. The error is ctx's.
func (b *Inbox) Request(ctx context.Context, what any) error {
	select {
	case b.Requests <- what:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Message is a decoded message of pubsub or of tails.
type Message struct {
	From      peer.ID
	Bytes     int // size on the wire
	Catalogue []wire.Item
	Group     wire.GroupID
	Tails     []wire.TailItem
	Opened    bool // the signatures of the tails were verified
	// Channel with room for what the turn of the loop leaves to be verified; nil: nobody waits for that
	Took      chan<- Unverified
	Parts     *wire.Parts // nil: the message is a catalogue or tails
	Transport event.Transport
	Came      time.Duration // time of arrival, on the core's clock
}

// Unverified holds the signatures that a turn of the loop leaves to be verified, and the items of tails that wait for
// them.
type Unverified struct {
	Items      []tails.Unverified
	Signatures []Signature
	Took       chan<- Unverified // channel of the stream that waits for these; nil: no stream waits
}

// Signature is a signature of a tail, to be verified.
type Signature struct {
	Origin             string
	Message, Signature []byte
}

// The most messages that wait for all peers, and the most bytes of them.
const (
	MaxMessages = 2048
	maxWaiting  = 8 << 20
)

// OfferMessage queues a message of pubsub or of tails, and reports whether there was room.
func (b *Inbox) OfferMessage(p Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[p.From]
	if len(q.waiting) >= MaxMessages-b.messages || q.bytes+p.Bytes > maxWaiting-b.bytes {
		return false
	}
	if len(q.waiting) == 0 {
		b.turns = append(b.turns, p.From)
	}
	b.queues[p.From] = queue{append(q.waiting, &p), q.bytes + p.Bytes}
	b.messages, b.bytes = b.messages+1, b.bytes+p.Bytes
	b.ready()
	return true
}

// ready signals that messages wait. The caller holds b.mu.
func (b *Inbox) ready() {
	select {
	case b.Messages <- struct{}{}:
	default:
	}
}

// Next removes and returns the oldest message of the peer whose turn it is; ok is false if none waits. So a message
// waits for the earlier ones of its sender and, in each turn, for one of each other peer. It does not matter how many
// messages the others have sent.
func (b *Inbox) Next() (p *Message, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.turns) == 0 {
		return nil, false
	}
	turn := b.turns[0]
	b.turns = slices.Delete(b.turns, 0, 1)
	q := b.queues[turn]
	p, q.waiting[0] = q.waiting[0], nil
	b.messages, b.bytes = b.messages-1, b.bytes-p.Bytes
	if len(q.waiting) == 1 {
		delete(b.queues, turn)
	} else {
		b.queues[turn] = queue{q.waiting[1:], q.bytes - p.Bytes}
		b.turns = append(b.turns, turn)
	}
	if len(b.turns) > 0 {
		b.ready()
	}
	return p, true
}

// change applies f to the state of a peer, and wakes the loop.
func (b *Inbox) change(p peer.ID, f func(*PeerState)) {
	b.mu.Lock()
	s := b.states[p]
	f(&s)
	b.states[p] = s
	b.mu.Unlock()
	b.Wake()
}

// LinkChanged records that a link has begun or ended.
func (b *Inbox) LinkChanged(p peer.ID, c Change) {
	b.change(p, func(s *PeerState) { s.Link = s.Link.then(c) })
}

// LinkWanted records that a link has begun for which this node asked.
func (b *Inbox) LinkWanted(p peer.ID) {
	b.change(p, func(s *PeerState) { s.Link, s.Wanted = s.Link.then(Begun), true })
}

// LinkDropped records that a link is to end, though its connection may last.
func (b *Inbox) LinkDropped(p peer.ID) {
	b.change(p, func(s *PeerState) { s.Dropped = true })
}

// MeshChanged records that a peer has entered the mesh or left it.
func (b *Inbox) MeshChanged(p peer.ID, c Change) {
	b.change(p, func(s *PeerState) { s.Mesh = s.Mesh.then(c) })
}

// Charged records bytes that pubsub sent to a peer on its own.
func (b *Inbox) Charged(p peer.ID, bytes int) {
	b.change(p, func(s *PeerState) { s.Charged += bytes })
}

// Unheard records that a message of tails to a peer was lost.
func (b *Inbox) Unheard(p peer.ID) {
	b.change(p, func(s *PeerState) { s.Unheard = true })
}

// Lost records that a message to a peer was dropped.
func (b *Inbox) Lost(p peer.ID) {
	b.change(p, func(s *PeerState) { s.Lost = true })
}

// Wake wakes the loop.
func (b *Inbox) Wake() {
	select {
	case b.Wakeup <- struct{}{}:
	default:
	}
}

// Take calls f with the state of each peer, in the order of the peers' ids, and forgets the states.
func (b *Inbox) Take(f func(peer.ID, PeerState)) {
	b.mu.Lock()
	states := b.states
	b.states = make(map[peer.ID]PeerState)
	b.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(states)) {
		f(p, states[p])
	}
}

// Waiting returns the number of waiting messages, and their bytes.
func (b *Inbox) Waiting() (messages, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.messages, b.bytes
}

// Remembered returns the number of peer states, plus the number of peers with waiting messages.
func (b *Inbox) Remembered() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.states) + len(b.queues)
}
