package sim

import (
	"container/heap"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// event is something that happens at a peer. It fills a line of a processor's cache.
type event struct {
	at   time.Duration
	to   strategy.ID
	from strategy.ID
	// Sessions of the two, from 1. An event for a session that is over doesn't reach a later one. toLife 0 is for any.
	toLife, fromLife uint32

	kind   kind
	packet uint16 // bytes of the packet, of piece and arrive
	msg    strategy.Message
}

type kind uint8

const (
	join     kind = iota // the peer comes online
	leave                // and goes
	arrive               // the last packet of a message is at the peer's line
	receive              // and has come in
	bounce               // a message couldn't be delivered
	wake                 // the peer asked for it
	start                // a query begins
	dialled              // somebody opens a link to the peer
	accepted             // a link that the peer asked for is open
	refused              // and isn't
	closed               // a link is gone
	linked               // another has opened a link

	// What a peer reports to the simulator in a step; never queued.
	handshake // it begins a connection
	looked
	missed
	found
	done

	changed // the peer's collection has changed; queued as the kinds before handshake
	killed  // the peer goes without a word; queued, too
	ended   // a connection that was closed has nothing under way any more; queued, too
	piece   // a packet of a message, not the last, is at the peer's line; queued, too
)

// queued reports whether events of a kind are planned for a time, rather than reported in a step.
func (k kind) queued() bool { return k < handshake || k > done }

// queue holds the events to come by window: the next ringWindows windows in a ring, later ones in a heap. Events of one
// window and one instant stay in the order of their planning.
type queue struct {
	width   time.Duration // of a window
	now     int64         // window
	ring    []bag
	far     farEvents
	planned uint64 // far events
}

const ringWindows = 1 << 10

func newQueue(width time.Duration) queue {
	return queue{width: width, ring: make([]bag, ringWindows)}
}

// push plans an event. One that is due before the next window begins is put into it.
func (q *queue) push(e *event) {
	w := max(int64(e.at/q.width), q.now+1)
	if w-q.now >= ringWindows {
		heap.Push(&q.far, farEvent{q.planned, *e})
		q.planned++
		return
	}
	q.ring[w%ringWindows].add(e)
}

// next moves to the next window and returns its events. The caller empties the bag.
func (q *queue) next() *bag {
	q.now++
	for len(q.far) > 0 && int64(q.far[0].at/q.width)-q.now < ringWindows { // before any other is put into that window
		e := heap.Pop(&q.far).(farEvent)
		q.push(&e.event)
	}
	return &q.ring[q.now%ringWindows]
}

// farEvent is an event with its number in the order of planning.
type farEvent struct {
	number uint64
	event
}

type farEvents []farEvent

func (e farEvents) Len() int { return len(e) }
func (e farEvents) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].number < e[j].number
}
func (e farEvents) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push serves package heap.
func (e *farEvents) Push(x any) { *e = append(*e, x.(farEvent)) }

// Pop serves package heap.
func (e *farEvents) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = farEvent{}
	*e = (*e)[:last]
	return x
}
