package routing

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// sweep asks all linked peers for a key that no summary shows, when the budget suffices for all of them. The key may be
// newer than the summaries. It reports whether there is a peer to ask.
func (r *Router) sweep(q *search) bool {
	if q.swept || q.found > 0 || q.hops <= 0 {
		return false
	}
	q.swept = true
	var to []wire.PeerID
	for _, p := range r.view.Linked() {
		if r.heardFrom(q, p) {
			continue
		}
		if age, ok := r.fresh(q, p); ok {
			q.rely(r.now - age)
			continue
		}
		to = append(to, p)
	}
	if len(to) == 0 || q.spent+confirmCost*len(to) > q.Budget {
		return false
	}
	for _, p := range to {
		rec, _ := r.view.Record(p)
		rec.Peer = p
		if c := r.learn(q, rec); c != nil && c.tries == 0 && c.state != shunned {
			c.why, c.state, c.p, c.cost = Linked, waiting, r.prior.Share(), match.Cost(0, true, r.load[p])
		}
	}
	r.rank(q)
	return true
}

// fresh returns the age of the knowledge of a linked peer, if it is young enough to stand in for a question.
func (r *Router) fresh(q *search, p wire.PeerID) (age time.Duration, ok bool) {
	limit := q.Fresh
	if limit == 0 {
		limit = r.cfg.Fresh
	}
	age, ok = r.view.Fresh(p)
	return age, ok && age <= limit
}

// settled reports whether only candidates need be asked: all known peers are linked, their keys are known, and no
// linked peer knows of others.
func (r *Router) settled(q *search) bool {
	if q.looked {
		return q.settled
	}
	q.looked = true
	if r.cfg.Incomplete() || r.view.Covers().Depth() > 0 {
		return false
	}
	known := 0
	for _, p := range r.view.Linked() {
		if _, ok := r.fresh(q, p); ok {
			known++
		}
	}
	q.settled = known > 0 && known == r.view.Origins()
	return q.settled
}

// heardFrom reports whether a linked peer need not be asked for the key. That is so if it was asked, had the query
// before, or would have named itself.
func (r *Router) heardFrom(q *search, p wire.PeerID) bool {
	if q.excluded(r.cfg.Self, p) || q.childOf(p) != nil {
		return true
	}
	if a := q.contactOf(p); a != nil && a.state == answered {
		return true
	}
	i, ok := q.index[p]
	return ok && q.candidates[i].tries > 0
}

// heldUp says whether something is to be waited for before the plan goes on.
func (r *Router) heldUp(q *search) bool {
	if q.waitingFor() {
		return true
	}
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == asking && r.holdsUp(q, c) {
			return true
		}
	}
	return false
}

// holdsUp says whether the answer of a candidate under way is to be waited for before the plan goes on.
func (r *Router) holdsUp(q *search, c *candidate) bool { return r.now < c.since+r.patience(q, c) }

// patience is how long the plan waits for the answer of a candidate. It is short if the candidate failed to answer of
// late, or if nothing speaks for it. A search for others does not wait for the former: the waits of all peers on the way
// would add up.
func (r *Router) patience(q *search, c *candidate) time.Duration {
	switch {
	case c.standing >= suspect && q.serves != nil:
		return 0
	case c.standing >= suspect:
		return grace
	case c.why == Linked, r.inDoubt(q, c):
		return r.cfg.HedgeAfter
	}
	return r.cfg.ConfirmTimeout
}

// worthWaiting says whether something under way may still bring something when nothing else is left to do.
func (r *Router) worthWaiting(q *search) bool {
	if q.waitingFor() {
		return true
	}
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == asking && (c.standing < suspect && !r.inDoubt(q, c) || r.holdsUp(q, c)) {
			return true
		}
	}
	return false
}
