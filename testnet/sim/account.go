package sim

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// sums are the costs of a query.
type sums struct{ messages, bytes, probes, wasted int }

// count adds an event to the sums. who caused the event.
func (t *tally) count(who strategy.ID, e *event) {
	id := e.msg.Query
	switch e.kind {
	case handshake:
		if t.sim.churn.online[e.to] { // the other end counts, too, if it is there
			t.connected(who, e.to, e.at)
		}
		return
	case arrive:
		t.watch.sent(e)
		if id == 0 {
			t.upkeep[who] += int64(e.msg.Bytes)
		}
	}
	if id == 0 || int(id) > len(t.queries) {
		return
	}
	q := &t.queries[id-1]
	switch e.kind {
	case arrive:
		q.messages++
		q.bytes += e.msg.Bytes
		t.load[who]++
	case looked:
		q.probes++
	case missed:
		q.probes++
		q.wasted++
	case found:
		t.found(who, q, e)
	case done:
		if who == q.asker {
			q.covered, _ = e.msg.Body.(covered)
		}
	}
}

// connected counts a handshake of two peers as upkeep, even if a query caused it: on real hosts nothing tells
// these apart.
func (t *tally) connected(p, q strategy.ID, at time.Duration) {
	t.watch.connected(at, 2*HandshakeBytes)
	t.handshakes[p]++
	t.handshakes[q]++
}

// found judges an answer to a query. It ignores an answer that is late, names the asker, repeats a holder, or
// reached another peer than the asker. It counts an answer that names a peer without the key as wrong.
func (t *tally) found(who strategy.ID, q *outcome, e *event) {
	holder := e.from
	switch {
	case who != q.asker || holder == who || e.at > q.start+t.sim.cfg.Patience || slices.Contains(q.holders, holder):
		return
	case int(holder) >= len(t.sim.nodes) || !t.sim.held.Holds(holder, q.key):
		t.wrong++
		return
	}
	q.holders = append(q.holders, holder)
	if q.first == never {
		q.first, q.hops = e.at, e.msg.Bytes
	}
}
