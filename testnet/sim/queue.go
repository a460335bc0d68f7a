package sim

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// event is something that happens at a peer. It fits in a cache line of the processor.
type event struct {
	at   time.Duration
	to   strategy.ID
	from strategy.ID
	// The sessions of both peers, numbered from 1. An event for a session that is over does not reach a later
	// one. toLife 0 means any session.
	toLife, fromLife uint32

	kind   kind
	packet uint16 // bytes of the packet, for the kinds piece and arrive
	msg    strategy.Message
}

type kind uint8

const (
	join     kind = iota // the peer comes online
	leave                // the peer goes offline, and says goodbye
	arrive               // the last packet of a message reaches the peer's line
	receive              // the last packet of a message has passed the peer's line
	bounce               // a message of the peer could not be delivered
	wake                 // a time at which the peer acts without an event: see timer
	start                // the peer begins a query
	dialled              // another peer asks for a link
	accepted             // a link that the peer asked for is open
	refused              // a link that the peer asked for is not open
	closed               // a connection is closed; messages may still be under way on it
	linked               // a link that another peer opened is open

	// These kinds are reported to the simulator in a step, and never queued.
	handshake // the peer's share in a handshake
	looked
	missed
	found
	done

	changed // the peer's collection has changed; queued like the kinds before handshake
	killed  // the peer goes offline without a goodbye; queued, too
	ended   // a closed connection has no message under way any more; queued, too
	piece   // a packet of a message, not the last, reaches the peer's line; queued, too
)

// queued reports whether events of a kind go into the queue. The others are only counted and recorded.
func (k kind) queued() bool { return k < handshake || k > done }

// queue holds the future events. It divides time into windows, and keeps the events of each in the order of the pushes.
type queue struct {
	width   time.Duration // width of a window
	now     int64         // number of the current window; 0 before the first
	windows map[int64][]event
}

func newQueue(width time.Duration) queue {
	return queue{width: width, windows: map[int64][]event{}}
}

// push adds an event. An event that is due before the next window goes into the next window.
func (q *queue) push(e *event) {
	w := max(int64(e.at/q.width), q.now+1)
	q.windows[w] = append(q.windows[w], *e)
}

// take removes and returns the events of the current window.
func (q *queue) take() []event {
	events := q.windows[q.now]
	delete(q.windows, q.now)
	return events
}
