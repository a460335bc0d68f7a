package drive

import (
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// A member is the strategy.Host of its machine. The machine's calls are carried out at once: they only fill outboxes
// and queues, and none of them steps a machine.

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

// Send puts a message on its way.
func (m *member) Send(to strategy.ID, msg strategy.Message) {
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

// Connect opens a link, unless there is one.
func (m *member) Connect(to strategy.ID) {
	if to != m.id && !m.linked(to) && m.links.Dial(to) {
		m.frame(to, dialled)
	}
}

// Disconnect closes a link, once the step is over.
func (m *member) Disconnect(to strategy.ID) {
	if m.linked(to) {
		m.frame(to, closed)
		m.later(event{kind: closed, peer: to})
	}
}

// Wake asks for the input Woken. The timer is set after the step.
func (m *member) Wake(at time.Duration) {
	if at <= m.now {
		at = m.now + time.Millisecond
	}
	m.setWake(at)
}

// Found notes a holder.
func (m *member) Found(q strategy.QueryID, holder strategy.ID, hops int) {
	m.net.asks.found(q, m.id, holder, hops, m.now)
}

// Covered does nothing: runs on real hosts do not report this figure.
func (m *member) Covered(strategy.QueryID, float64) {}

// Done notes that a query is over.
func (m *member) Done(q strategy.QueryID) { m.net.asks.done(q, m.id, m.now) }

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
