package node

import (
	"sync"

	"github.com/venn-p2p/venn/node/internal/counters"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/summary"
)

// Event is something that happened to a node: a Learned, a TailLearned, a Published, a LinkOpened or a LinkClosed.
type Event interface{ event() }

// Learned says that of an origin's summary so many parts are held now.
type Learned struct {
	Origin peer.ID
	Epoch  summary.Epoch
	Parts  int
}

// TailLearned says that the node knows more of what an origin has changed since its summary. The origin is the node itself
// when it published a tail of its own.
type TailLearned struct {
	Origin         peer.ID
	Epoch          summary.Epoch // of the summary
	Number         uint32        // of the latest tail, from 1 in each epoch
	Added, Removed int           // keys since the summary
}

// Published says that the node made a new summary of its own.
type Published struct {
	Seed  uint32 // its number
	Epoch summary.Epoch
	Keys  int // in the summary
	Parts int
	Bytes int // of all parts
}

// LinkOpened says that the node and a peer have said hello.
type LinkOpened struct{ Peer peer.ID }

// LinkClosed says that the last connection to a linked peer is gone.
type LinkClosed struct{ Peer peer.ID }

func (Learned) event()     {}
func (TailLearned) event() {}
func (Published) event()   {}
func (LinkOpened) event()  {}
func (LinkClosed) event()  {}

// eventQueue is how many events may wait for a subscriber before further ones are dropped, and counted.
const eventQueue = 1024

type events struct {
	mu       sync.Mutex
	subs     map[chan Event]bool
	closed   bool
	counters *counters.Counters
	metrics  *metrics
}

func newEvents(c *counters.Counters, m *metrics) *events {
	return &events{subs: make(map[chan Event]bool), counters: c, metrics: m}
}

// Events subscribes to what happens to the node from now on. A subscriber that lags by more than 1024 events misses some,
// which Status counts. The channel is closed by cancel, and by Close.
func (n *Node) Events() (events <-chan Event, cancel func()) { return n.events.subscribe() }

func (e *events) subscribe() (<-chan Event, func()) {
	ch := make(chan Event, eventQueue)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		close(ch)
		return ch, func() {}
	}
	e.subs[ch] = true
	return ch, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.subs[ch] {
			delete(e.subs, ch)
			close(ch)
		}
	}
}

func (e *events) emit(ev Event) {
	e.metrics.event(ev)
	e.mu.Lock()
	defer e.mu.Unlock()
	for ch := range e.subs {
		select {
		case ch <- ev:
		default:
			e.counters.Drop("events")
		}
	}
}

func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for ch := range e.subs {
		delete(e.subs, ch)
		close(ch)
	}
}
