package sim

import (
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

// queue holds the events to come by window, in the order of their planning.
type queue struct {
	width   time.Duration // of a window
	now     int64         // number of the window that is run; before the first one 0
	windows map[int64][]event
}

func newQueue(width time.Duration) queue {
	return queue{width: width, windows: map[int64][]event{}}
}

// push plans an event. One that is due before the next window begins is put into that.
func (q *queue) push(e *event) {
	w := max(int64(e.at/q.width), q.now+1)
	q.windows[w] = append(q.windows[w], *e)
}

// take takes out the events of the window that is run.
func (q *queue) take() []event {
	events := q.windows[q.now]
	delete(q.windows, q.now)
	return events
}
