package routing

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// aside is the divisor of a budget for what it is not mainly for. A node keeps 1/aside of the remaining budget to confirm
// the holders that its children find. Names in doubt may take 1/aside of the whole budget.
const aside = 4

// worthForwarding reports whether a query should be forwarded: there are no contacts of other ranges, and too few
// holders are known. For Any, too few means none: linked peers may hold keys that no summary shows. For All, holders
// are also too few if the directory knows nothing of some peers, and contacts have not answered for all places.
func (r *Router) worthForwarding(q *search) bool {
	if q.Direct || q.hops <= 0 || r.settled(q) || len(q.cover.contacts) > 0 && !q.cover.poor {
		return false
	}
	if q.forwarded && !r.worthForwardingAgain(q) {
		return false
	}
	return q.found == 0 || q.Mode == wire.All && r.cfg.Incomplete() && (!q.cover.poor || !everybody(&q.cover.once))
}

// worthForwardingAgain reports whether more linked peers may find holders that the first children did not: an own query
// has found no holder, and there are peers with unknown collections. Where most are unknown, the first few children
// reach only a part of what the budget pays for.
func (r *Router) worthForwardingAgain(q *search) bool {
	return q.serves == nil && q.found == 0 && r.cfg.Incomplete()
}

// inOwnOrder returns the linked peers that have not had the query and have not recently failed to answer. Each node
// salts the order; with one order for all, every forwarder would send the query to the same few peers. Peers that named
// wrong peers before come last.
func (r *Router) inOwnOrder(q *search) []wire.PeerID {
	var out []wire.PeerID
	for _, p := range r.view.Linked() {
		if !q.excluded(r.cfg.Self, p) && q.childOf(p) == nil && !q.failedHere(p) && r.standing(p) < suspect {
			out = append(out, p)
		}
	}
	tie := r.tieFor(q)
	slices.SortFunc(out, func(a, b wire.PeerID) int {
		return cmp.Or(cmp.Compare(r.doubt(a), r.doubt(b)), cmp.Compare(tie(a), tie(b)), cmp.Compare(a, b))
	})
	return out
}

// tieFor returns a function that orders equals differently on each node.
func (r *Router) tieFor(q *search) func(wire.PeerID) uint64 {
	return func(p wire.PeerID) uint64 { return match.Tie(uint64(q.fingerprint)^r.salt, string(p)) }
}

// failedHere reports whether a peer has failed to answer a question of this query.
func (q *search) failedHere(p wire.PeerID) bool {
	if a := q.contactOf(p); a != nil && a.state == failed {
		return true
	}
	i, ok := q.index[p]
	return ok && q.candidates[i].state == failed
}

// forward hands a query to some linked peers, which share three quarters of the remaining budget. It returns false if
// that is not worth while, if there is no peer, or too little budget. A child gets seven eighths of the remaining time,
// because its answer must travel.
func (r *Router) forward(q *search) bool {
	if !r.worthForwarding(q) {
		return false
	}
	to := r.inOwnOrder(q)
	left := q.Budget - q.spent
	if q.Mode == wire.All && !r.cfg.Incomplete() {
		left = min(left, r.cfg.BudgetAny) // a complete directory misses little
	}
	share := left - left/aside
	n := min(r.cfg.Fanout, len(to), share/(2*questionCost)) // each child can ask one peer
	if n == 0 {
		q.short = q.short || len(to) > 0
		return false
	}
	q.forwarded = true
	until := r.now + (q.Deadline-r.now)/8*7
	visited := r.visitedBy(q, to[:n])
	for _, p := range to[:n] {
		r.forwardTo(q, p, share/n-questionCost, until, visited)
	}
	return true
}

func (r *Router) forwardTo(q *search, p wire.PeerID, budget int, until time.Duration, visited []uint32) {
	q.spent += questionCost + budget
	r.refer(q, referrer{child: true, reserved: budget}, until, Reason{Peer: p, Why: Forwarded})
	r.ask(q, wire.Record{Peer: p}, wire.Query{
		Kind: wire.Search, Key: q.Key, Mode: q.Mode, Want: q.Want - q.found, Budget: budget, Within: until - r.now,
		Nonce: q.nonce, Origin: q.origin, Hops: q.hops - 1, Visited: visited, Fresh: q.Fresh,
	})
}

// forwardReturned handles a child's answer. The cost that it reports is believed up to the budget set aside for it.
// giveBack makes up for this cost, so that others can be asked.
func (r *Router) forwardReturned(id QueryID, p wire.PeerID, a wire.Answer, bytes int) {
	r.lives(p)
	q := r.open[id]
	if q == nil {
		return
	}
	c := q.childOf(p)
	if c == nil || c.state == answered || c.state == failed {
		return
	}
	c.reported = min(max(c.reported, a.Messages), c.reserved)
	reason := &q.stats.Explain[c.reason]
	reason.Names += len(a.Records)
	reason.Bytes += bytes
	if a.AsOf > 0 { // the child may have taken the age as early as at the time of the question
		q.rely(q.started + reason.At - a.AsOf)
	}
	if a.Final {
		c.state = answered
		q.conclude(r.now, c.reason, Answered)
		q.spent -= c.reserved - c.reported
		q.giveBack(c.reported)
	}
	if q.serves != nil {
		r.passOn(q, c, a.Records)
	} else {
		r.named(q, c, Returned, q.fewNames(c, a.Records))
	}
	r.advance(q)
}
