package routing

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// outdated is the age of knowledge from which a query asks a linked peer although it has found holders: the peer
// announced changes not known here, or holds keys that no summary shows. Other peers have nothing new to tell.
const outdated = agenda.Longest

// sweep asks linked peers for a key that our knowledge of them does not show, if the budget suffices for all of them.
// While no holder is found, these are all peers whose knowledge is not fresh; otherwise only peers whose knowledge is
// outdated. It reports whether there is a peer to ask.
func (r *Router) sweep(q *search) bool {
	if q.swept || q.hops <= 0 {
		return false
	}
	q.swept = true
	var to []wire.PeerID
	for _, p := range r.view.Linked() {
		if r.heardFrom(q, p) {
			continue
		}
		switch age, known := r.view.Fresh(p); {
		case q.found > 0 && (!known || age < outdated):
			continue
		case q.found == 0 && known && age <= r.freshness(q):
			q.rely(r.now - age)
			continue
		}
		to = append(to, p)
	}
	if len(to) == 0 || q.spent+questionCost*len(to) > q.Budget {
		return false
	}
	for _, p := range to {
		rec, _ := r.view.Record(p)
		rec.Peer = p
		if c := r.learn(q, rec); c != nil && !c.asked && c.state != shunned {
			c.why, c.state, c.p, c.cost = Linked, waiting, r.prior.Share(), match.Cost(0, true, r.load[p])
		}
	}
	r.rank(q)
	return true
}

// freshness returns the age up to which knowledge of a linked peer replaces a question.
func (r *Router) freshness(q *search) time.Duration {
	if q.Fresh == 0 {
		return r.cfg.Fresh
	}
	return q.Fresh
}

// settled reports whether nobody but candidates is to be asked: all known peers are linked, their keys are known, and
// no linked peer knows of others.
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
		if age, ok := r.view.Fresh(p); ok && age < outdated {
			known++
		}
	}
	q.settled = known > 0 && known == r.view.Origins()
	return q.settled
}

// heardFrom reports whether a linked peer need not be asked for the key: it was asked, had the query before, or would
// have named itself.
func (r *Router) heardFrom(q *search, p wire.PeerID) bool {
	if q.excluded(r.cfg.Self, p) || q.childOf(p) != nil {
		return true
	}
	if a := q.contactOf(p); a != nil && a.state == answered {
		return true
	}
	i, ok := q.index[p]
	return ok && q.candidates[i].asked
}

// heldUp reports whether the plan must wait for an answer before it goes on.
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

// holdsUp reports whether the plan must wait for the answer of a candidate under way before it goes on.
func (r *Router) holdsUp(q *search, c *candidate) bool { return r.now < c.since+r.patience(q, c) }

// patience returns the time that the plan waits for the answer of a candidate. It is short for a candidate that failed
// recently: a hundredth of the time since it was asked then, HedgeAfter at most, because a peer behind a partition may
// be back. It is HedgeAfter for a linked peer with neither match nor name, and for a name in doubt. In an All query it is
// twice as long for a match that is not sure: anybody may claim some of each key. A search for others does not wait for
// candidates that failed: the waits of all peers on the way would add up.
func (r *Router) patience(q *search, c *candidate) time.Duration {
	switch {
	case c.standing >= suspect && q.serves != nil:
		return 0
	case c.standing >= suspect:
		return min((c.since-r.conduct(c.record.Peer).failure.asked)/100, r.cfg.HedgeAfter)
	case c.why == Linked, r.inDoubt(q, c):
		return r.cfg.HedgeAfter
	case q.Mode == wire.All && c.why == Matched && !c.sure():
		return contactPatience * r.cfg.HedgeAfter
	}
	return r.cfg.ConfirmTimeout
}

// awaited reports whether a search waits for the answer of a candidate under way before it ends. The plan goes on without
// a linked peer's, but waits for it at last.
func (r *Router) awaited(q *search, c *candidate) bool {
	return c.why == Linked && c.standing < suspect || r.holdsUp(q, c)
}

// worthWaiting reports whether an answer under way may still help when nothing else is left to do.
func (r *Router) worthWaiting(q *search) bool {
	if q.waitingFor() {
		return true
	}
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == asking && r.awaited(q, c) {
			return true
		}
	}
	return false
}
