package sim

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// account adds up the events of a shard's peers.
type account struct {
	sim     *Sim
	queries []sums // by number, from 1; the last ones may be missing
	wrong   int
	watch   *watch
}

// sums are the costs of a query.
type sums struct{ messages, bytes, probes, wasted int }

func newAccount(s *Sim) account {
	return account{sim: s, watch: &watch{end: s.end, kinds: map[string]*Sent{}}}
}

// count counts an event of a peer.
func (a *account) count(who strategy.ID, e *event) {
	t := &a.sim.tally
	id := e.msg.Query
	if e.kind == arrive {
		a.watch.sent(e)
	}
	if e.kind == handshake {
		a.handshake(who, e)
		return
	}
	if e.kind == arrive && id == 0 {
		t.upkeep[who] += int64(e.msg.Bytes)
		return
	}
	if id == 0 || int(id) > len(t.queries) {
		return
	}
	switch e.kind {
	case arrive:
		q := a.of(id)
		q.messages++
		q.bytes += e.msg.Bytes
		t.load[who]++
	case looked:
		a.of(id).probes++
	case missed:
		q := a.of(id)
		q.probes++
		q.wasted++
	case found:
		a.found(who, &t.queries[id-1], e)
	case done:
		if q := &t.queries[id-1]; who == q.asker {
			q.covered, _ = e.msg.Body.(covered)
		}
	}
}

// of returns the costs of a query, to add to.
func (a *account) of(id strategy.QueryID) *sums {
	if int(id) > len(a.queries) {
		a.queries = append(a.queries, make([]sums, int(id)-len(a.queries))...)
	}
	return &a.queries[id-1]
}

// handshake counts the bytes of both ends of a connection that a peer begins, unless the other isn't there.
func (a *account) handshake(who strategy.ID, e *event) {
	if !a.sim.churn.online[e.to] {
		return
	}
	a.connected(who, e.to, e.at)
}

// connected counts the handshake of two peers as upkeep, whatever it is for: that is all that hosts can tell.
func (a *account) connected(p, q strategy.ID, at time.Duration) {
	a.watch.connected(at, 2*HandshakeBytes)
	a.sim.tally.handshakes[p].Add(1)
	a.sim.tally.handshakes[q].Add(1)
}

// merge adds another account.
func (a *account) merge(b *account) {
	for i, q := range b.queries {
		all := &a.queries[i]
		all.messages, all.bytes = all.messages+q.messages, all.bytes+q.bytes
		all.probes, all.wasted = all.probes+q.probes, all.wasted+q.wasted
	}
	a.wrong += b.wrong
	a.watch.merge(b.watch)
}

// found judges an answer. It ignores answers that come too late, twice, or to another peer than the asker. It counts
// wrong ones. Only the asker's shard touches the query.
func (a *account) found(who strategy.ID, q *outcome, e *event) {
	holder := e.from
	switch {
	case who != q.asker || holder == who || e.at > q.start+a.sim.cfg.Patience || slices.Contains(q.holders, holder):
		return
	case int(holder) >= len(a.sim.nodes) || !a.sim.held.Holds(holder, q.key):
		a.wrong++
		return
	}
	q.holders = append(q.holders, holder)
	if q.first == never {
		q.first, q.hops = e.at, e.msg.Bytes
	}
}
