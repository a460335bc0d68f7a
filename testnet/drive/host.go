package drive

import (
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// A member is the strategy.Host of its machine. It notes the machine's calls during a step, and carries them out
// after it.

// effect is a call of the machine that is to be carried out.
type effect struct {
	what    deed
	peer    strategy.ID
	message strategy.Message // message to be sent; for found and done it has the query only
	hops    int              // of found
}

type deed uint8

const (
	send deed = iota
	connect
	disconnect
	found
	done
)

func (m *member) note(e effect) { m.effects = append(m.effects, e) }

// do carries out an effect.
func (m *member) do(e *effect) {
	q := e.message.Query
	switch e.what {
	case send:
		m.send(e.peer, e.message)
	case connect:
		m.connect(e.peer)
	case disconnect:
		if m.linked(e.peer) {
			m.frame(e.peer, closed)
			m.later(event{kind: closed, peer: e.peer})
		}
	case found:
		m.net.asks.found(q, m.id, e.peer, e.hops, m.now)
	case done:
		m.net.asks.done(q, m.id, m.now)
	}
}

// Self implements strategy.Host, and so do all methods below.
func (m *member) Self() strategy.ID { return m.id }

// Rand returns the machine's own source of randomness.
func (m *member) Rand() *rand.Rand { return m.rng }

// Links returns the open links.
func (m *member) Links() []strategy.ID { return m.links.Open() }

// Holds looks into the peer's collection.
func (m *member) Holds(k strategy.Key) bool { return m.net.cfg.Holds(m.id, k) }

// Look looks into the peer's collection for a query, which counts the look.
func (m *member) Look(q strategy.QueryID, k strategy.Key) bool {
	held := m.Holds(k)
	m.net.asks.looked(q, held)
	return held
}

// Send sends a message after the step.
func (m *member) Send(to strategy.ID, msg strategy.Message) {
	m.note(effect{what: send, peer: to, message: msg})
}

// Connect opens a link after the step.
func (m *member) Connect(to strategy.ID) { m.note(effect{what: connect, peer: to}) }

// Disconnect closes a link after the step.
func (m *member) Disconnect(to strategy.ID) { m.note(effect{what: disconnect, peer: to}) }

// Wake asks for the input Woken. The timer is set after the step.
func (m *member) Wake(at time.Duration) {
	if at <= m.now {
		at = m.now + time.Millisecond
	}
	m.setWake(at)
}

// Found notes a holder.
func (m *member) Found(q strategy.QueryID, holder strategy.ID, hops int) {
	m.note(effect{what: found, peer: holder, hops: hops, message: strategy.Message{Query: q}})
}

// Covered does nothing: runs on real hosts do not report this figure.
func (m *member) Covered(strategy.QueryID, float64) {}

// Done notes that a query is over.
func (m *member) Done(q strategy.QueryID) {
	m.note(effect{what: done, message: strategy.Message{Query: q}})
}

// send queues a message for its receiver.
func (m *member) send(to strategy.ID, msg strategy.Message) {
	if to == m.id {
		m.later(event{kind: received, peer: m.id, message: msg})
		return
	}
	id := UpkeepID
	if msg.Query != 0 {
		id = QueryID
	}
	m.push(to, id, &frame{from: m.id, to: to, kind: received, message: msg})
}

// frame sends the frame that opens or closes a link.
func (m *member) frame(to strategy.ID, k kind) {
	m.push(to, UpkeepID, &frame{from: m.id, to: to, kind: k})
}

func (m *member) push(to strategy.ID, id protocol.ID, f *frame) {
	m.net.enter(f.message.Query)
	if !m.outbox(to, id).push(f) {
		m.net.cancel(ErrOverflow)
	}
}

// outbox returns the outbox to a peer for a protocol.
func (m *member) outbox(to strategy.ID, id protocol.ID) *outbox {
	w := way{to, id}
	if m.outboxes[w] == nil {
		m.outboxes[w] = newOutbox(m, w)
	}
	return m.outboxes[w]
}

// keep sets whether the streams to a peer stay open without use.
func (m *member) keep(p strategy.ID, open bool) {
	m.outbox(p, UpkeepID).keep.Store(open)
	m.outbox(p, QueryID).keep.Store(open)
}
