// Package inbox has the queues into the loop that owns a node's core. Each is bounded, and each says what becomes of an
// item for which there is no room: its giver waits, it replaces the one before, or it is dropped and counted. No peer
// takes the turns of another. Giving and taking are O(1).
package inbox

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Inbox has all queues into the loop. Each is bounded:
//
//   - commands, from the API: the caller waits, until its context ends. Nothing is dropped.
//   - results, of the loop's orders: the goroutine that has one waits. Nothing is dropped.
//   - requests, on streams that peers opened: the stream waits. The places of streams bound the number that wait.
//   - messages: pubsub's partial messages and tails, at most 2048 and 8 MiB of them, fairly shared among peers, which
//     take turns. When it is full the message is dropped and counted. The sender's next catalogue, or our next ask,
//     makes up for it. Tails wait on their stream.
//   - states, of peers: the latest of each peer replaces the one before. Nothing is dropped; it grows with the peers
//     alone.
type Inbox struct {
	Commands chan any
	Results  chan any
	Requests chan any
	Messages chan struct{} // holds a value while messages wait; see Next

	mu     sync.Mutex
	states map[peer.ID]PeerState
	queues map[peer.ID]*queue // waiting messages, by peer
	turns  []peer.ID          // peers with waiting messages, in the order of their turns
	all    load               // waiting messages of all peers
	Wakeup chan struct{}      // states, or something else that the loop looks at on each pass, have changed
}

// PeerState collects what happened to a peer since the loop last looked.
type PeerState struct {
	Link    Change // the other end identified itself on a connection that is to be a link; the last connection closed
	Mesh    Change // pubsub grafted, pruned
	Charged int    // bytes that pubsub sent it unasked
	Wanted  bool   // the link that has begun was asked for by this node
	Dropped bool   // the link gave way to another, or its connection is no longer the node's
	Lost    bool   // a message to it was dropped because a queue was full
	Unheard bool   // a message of tails to it was lost
}

// Change is the latest change since the loop last looked.
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
		queues:   make(map[peer.ID]*queue),
		Wakeup:   make(chan struct{}, 1),
	}
}

// Command hands over a command and waits until the loop has taken it. It hands over nothing if a context has ended
// before. The errors: ctx's, the cause with which node ends.
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

// Result hands over a result, or drops it if the node closes.
func (b *Inbox) Result(node context.Context, r any) {
	select {
	case b.Results <- r:
	case <-node.Done():
	}
}

// Request hands over a peer's question on a stream, and waits until the loop has taken it. The error is ctx's.
func (b *Inbox) Request(ctx context.Context, what any) error {
	select {
	case b.Requests <- what:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Message is a message of pubsub or of tails, decoded.
type Message struct {
	From      peer.ID
	Bytes     int // on the wire
	Catalogue []wire.Item
	Group     group.ID
	Tails     []wire.TailItem
	Opened    bool              // the signatures of the tails were verified
	Took      chan<- Unverified // with room for the turn's Unverified; nil: nobody waits
	Parts     *wire.Parts       // nil: it is a catalogue or tails
	Transport event.Transport
	Came      time.Duration // on the core's clock
}

// Unverified has the signatures that a turn of the loop leaves to be verified, and the items of tails that wait for
// them.
type Unverified struct {
	Items      []tails.Unverified
	Signatures []Signature
	Took       chan<- Unverified // where it is waited for; nil: nowhere
}

// Signature is one of a tail.
type Signature struct {
	Origin             string
	Message, Signature []byte
}

// The most messages that wait, and their most bytes.
const (
	MaxMessages = 2048
	maxWaiting  = 8 << 20
)

// load counts the waiting messages of one peer, or of all.
type load struct{ messages, bytes int }

// queue holds the messages of a peer, in the order of arrival.
type queue struct {
	load
	waiting []*Message
}

// OfferMessage hands over a message of pubsub or of tails, and reports whether there was room. A peer may have as much
// waiting as there is room free for all: a single peer gets half of the queue, each of n peers the (n+1)th part. So no
// peer can fill the queue, and a new one finds room.
func (b *Inbox) OfferMessage(p Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	own, all := load{1, p.Bytes}, load{b.all.messages + 1, b.all.bytes + p.Bytes}
	q := b.queues[p.From]
	if q != nil {
		own = load{q.messages + 1, q.bytes + p.Bytes}
	}
	if own.messages > MaxMessages-all.messages+1 || own.bytes > maxWaiting-all.bytes+p.Bytes {
		return false
	}
	if all.messages > MaxMessages || all.bytes > maxWaiting {
		return false
	}
	if q == nil {
		q = new(queue)
		b.queues[p.From] = q
		b.turns = append(b.turns, p.From)
	}
	q.waiting = append(q.waiting, &p)
	q.load, b.all = own, all
	b.ready()
	return true
}

// ready signals that messages wait. b.mu is held.
func (b *Inbox) ready() {
	select {
	case b.Messages <- struct{}{}:
	default:
	}
}

// Next takes the oldest message of the peer whose turn it is, if any waits. So a message waits for the earlier ones of
// its sender, and for one of each other peer per turn, however many that peer has sent.
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
	q.waiting = q.waiting[1:]
	for _, l := range []*load{&q.load, &b.all} {
		l.messages--
		l.bytes -= p.Bytes
	}
	if len(q.waiting) == 0 {
		delete(b.queues, turn)
	} else {
		b.turns = append(b.turns, turn)
	}
	if len(b.turns) > 0 {
		b.ready()
	}
	return p, true
}

// change records a change in the state of a peer.
func (b *Inbox) change(p peer.ID, f func(*PeerState)) {
	b.mu.Lock()
	s := b.states[p]
	f(&s)
	b.states[p] = s
	b.mu.Unlock()
	b.Wake()
}

// LinkChanged notes that a link has begun or ended.
func (b *Inbox) LinkChanged(p peer.ID, c Change) {
	b.change(p, func(s *PeerState) { s.Link = s.Link.then(c) })
}

// LinkWanted notes that a link has begun which this node asked for.
func (b *Inbox) LinkWanted(p peer.ID) {
	b.change(p, func(s *PeerState) { s.Link, s.Wanted = s.Link.then(Begun), true })
}

// LinkDropped notes that a link is to end, though its connection may last.
func (b *Inbox) LinkDropped(p peer.ID) {
	b.change(p, func(s *PeerState) { s.Dropped = true })
}

// MeshChanged notes that a peer came into the mesh or left it.
func (b *Inbox) MeshChanged(p peer.ID, c Change) {
	b.change(p, func(s *PeerState) { s.Mesh = s.Mesh.then(c) })
}

// Charged notes bytes that pubsub sent to a peer unasked.
func (b *Inbox) Charged(p peer.ID, bytes int) {
	b.change(p, func(s *PeerState) { s.Charged += bytes })
}

// Unheard notes that a message of tails to a peer was lost.
func (b *Inbox) Unheard(p peer.ID) {
	b.change(p, func(s *PeerState) { s.Unheard = true })
}

// Lost notes that a message to a peer was dropped.
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

// Take empties the states, in the order of the peers' ids.
func (b *Inbox) Take(f func(peer.ID, PeerState)) {
	b.mu.Lock()
	states := b.states
	b.states = make(map[peer.ID]PeerState)
	b.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(states)) {
		f(p, states[p])
	}
}

// Waiting returns how many messages wait, and their bytes.
func (b *Inbox) Waiting() (messages, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.messages, b.all.bytes
}

// Remembered returns the number of peers with something waiting.
func (b *Inbox) Remembered() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.states) + len(b.queues)
}
