package node

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/summary"
)

// EvtSummaryLearned tells, on the host's event bus, that parts of an origin's summary are held now.
type EvtSummaryLearned struct {
	Origin peer.ID
	Epoch  summary.Epoch
	Parts  int // number of the summary's parts that are held now, from its first on; 1 or more
}

// EvtTailLearned tells that the node knows more changes of an origin's keys since its summary. The origin is the node
// itself when it published a tail of its own.
type EvtTailLearned struct {
	Origin         peer.ID
	Epoch          summary.Epoch // epoch of the summary
	Number         uint32        // number of the latest tail, from 1 in each epoch
	Added, Removed int           // numbers of keys added and removed since the summary
}

// EvtSummaryPublished tells that the node made a new summary of its own.
type EvtSummaryPublished struct {
	Seed  uint32 // number of the seed
	Epoch summary.Epoch
	Keys  int // number of keys in the summary
	Parts int
	Bytes int // size of all parts on the wire, without the signed header
}

// EvtLinkOpened tells that the node and a peer have said hello.
type EvtLinkOpened struct{ Peer peer.ID }

// EvtLinkClosed tells that a link has ended: with the last connection to the peer, or because it gave way to another. A
// peer that comes back at once makes a new link, on its new connection.
type EvtLinkClosed struct{ Peer peer.ID }

// EvtNeighbourChosen tells that a linked peer is a neighbour from now on: the node keeps the connection.
type EvtNeighbourChosen struct{ Peer peer.ID }

// EvtNeighbourDropped tells that a peer is no neighbour any more.
type EvtNeighbourDropped struct{ Peer peer.ID }

const (
	// eventQueue is the number of events that may wait for the bus before further ones are dropped, and counted.
	eventQueue = 1024
	// eventsEnd is the time that Close waits for a subscriber that does not read. The goroutine of events ends later,
	// when the subscriber reads or unsubscribes.
	eventsEnd = time.Second
)

// events puts the node's events on the host's event bus. The bus waits for subscribers that lag: only the goroutine of
// events waits with it.
type events struct {
	counters *counters.Counters
	emitters map[reflect.Type]event.Emitter
	done     chan struct{}

	mu    sync.Mutex
	queue chan any // nil: closed
}

func newEvents(h host.Host, c *counters.Counters) (*events, error) {
	e := &events{
		counters: c, emitters: make(map[reflect.Type]event.Emitter),
		done: make(chan struct{}), queue: make(chan any, eventQueue),
	}
	for _, ev := range []any{
		new(EvtSummaryLearned), new(EvtTailLearned), new(EvtSummaryPublished), new(EvtLinkOpened), new(EvtLinkClosed),
		new(EvtNeighbourChosen), new(EvtNeighbourDropped),
	} {
		emitter, err := h.EventBus().Emitter(ev)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("node: events: %w", err), e.closeEmitters())
		}
		e.emitters[reflect.TypeOf(ev).Elem()] = emitter
	}
	go e.run(e.queue)
	return e, nil
}

func (e *events) run(queue <-chan any) {
	defer close(e.done)
	for ev := range queue {
		_ = e.emitters[reflect.TypeOf(ev)].Emit(ev)
	}
	_ = e.closeEmitters()
}

func (e *events) closeEmitters() error {
	var errs []error
	for _, emitter := range e.emitters {
		errs = append(errs, emitter.Close())
	}
	return errors.Join(errs...)
}

// emit hands an event to the bus. It never waits.
func (e *events) emit(ev any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case e.queue <- ev:
	default:
		if e.queue != nil {
			e.counters.Drop("events")
		}
	}
}

// close ends the goroutine when all events emitted before are on the bus.
func (e *events) close() {
	e.mu.Lock()
	queue := e.queue
	e.queue = nil
	e.mu.Unlock()
	if queue != nil {
		close(queue)
	}
	select {
	case <-e.done:
	case <-time.After(eventsEnd):
	}
}
