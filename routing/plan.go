package routing

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

const (
	// wrongNames is the number of wrong names of a contact, with none right, after which its other names are given up.
	wrongNames = bound.Credit
	// questionCost is the number of messages that a question and its answer take. A child also spends its share.
	questionCost = 2
)

// advance does what can be done now, and ends the query when nothing is left to do or to wait for. The package comment
// has the plan.
func (r *Router) advance(q *search) {
	if q.enough() {
		r.end(q, Enough)
		return
	}
	if r.now >= q.Deadline {
		r.end(q, OutOfTime)
		return
	}
	r.expire(q)
	r.hedge(q)
	for {
		r.askContacts(q)
		r.probe(q)
		if !r.heldUp(q) && r.escalate(q) {
			continue
		}
		if !r.worthWaiting(q) {
			break
		}
		q.wake = r.nextLook(q)
		r.timers.moved(q)
		return
	}
	if q.short {
		r.end(q, OutOfBudget)
		return
	}
	r.end(q, Exhausted)
}

// expire gives up questions whose answers take too long.
func (r *Router) expire(q *search) {
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == asking && r.now >= c.until {
			r.fail(q, c)
		}
	}
	for i := range q.referrers {
		if v := &q.referrers[i]; v.state == asking && r.now >= v.until {
			r.unanswered(q, v, false)
		}
	}
	if q.cover.wanted && r.now >= r.wantsUntil(q) {
		q.wantsNoLonger()
	}
}

// nextLook returns the time at which the query must be advanced again, if no input comes before.
func (r *Router) nextLook(q *search) time.Duration {
	at := q.Deadline
	if q.Mode == wire.Any && q.probing > 0 {
		at = min(at, q.hedgeAt)
	}
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == asking {
			at = min(at, c.until)
			if r.holdsUp(q, c) {
				at = min(at, c.since+r.patience(q, c))
			}
		}
	}
	for i := range q.referrers {
		v := &q.referrers[i]
		if v.state != asking {
			continue
		}
		at = min(at, v.until)
		if from, ok := r.impatient(q, v); ok && r.now < from {
			at = min(at, from)
		}
	}
	if q.cover.wanted {
		at = min(at, r.wantsUntil(q))
		if from, ok := r.wantsLong(q); ok && r.now < from {
			at = min(at, from)
		}
	}
	return at
}

// wary reports whether a query uses only the sure matches of its own directory.
func (r *Router) wary(q *search) bool {
	return q.cover.poor && (!q.cover.over || q.informed(r.cfg.Useless))
}

// next returns the index of the best candidate to confirm, -1 for none. If wary is set, it skips unsure matches.
func (q *search) next(wary bool) int {
	for len(q.order) > 0 && q.candidates[q.order[0]].state != waiting {
		q.order = q.order[1:]
	}
	for _, i := range q.order {
		c := &q.candidates[i]
		good := !wary || c.why != Matched || c.sure() || c.precise
		trusted := c.trust >= match.MinTrust || q.Mode == wire.Any
		if c.state == waiting && !c.spoken && good && trusted {
			return i
		}
	}
	return -1
}

// width returns the number of confirmations that may be under way. An All query has many, and more as holders are
// found, so that keys with thousands of holders do not take minutes. An Any query has the number that could suffice,
// one more after each miss, and more after each hedge.
func (r *Router) width(q *search, best *candidate) int {
	if q.Mode == wire.All {
		return max(r.cfg.Parallel, min(r.cfg.Parallel+q.found/r.cfg.Parallel, bound.Few))
	}
	if best.why == Linked || best.standing >= suspect {
		return r.cfg.Parallel
	}
	return min(q.Want-q.found+q.extra, r.cfg.Parallel)
}

// probingBeside returns the number of confirmations under way that delay a candidate. A confirmation that the plan does
// not wait for delays only names in doubt: otherwise a query could end before it has asked the other candidates.
func (r *Router) probingBeside(q *search, best *candidate) int {
	if r.inDoubt(q, best) {
		return q.probing
	}
	n := 0
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == asking && r.promises(q, c) {
			n++
		}
	}
	return n
}

// probe asks as many candidates for confirmation as may be asked now.
func (r *Router) probe(q *search) {
	wary := r.wary(q)
	for {
		i := q.next(wary)
		if i < 0 {
			return
		}
		c := &q.candidates[i]
		if w := r.width(q, c); q.probing >= w && r.probingBeside(q, c) >= w {
			return
		}
		if r.inDoubt(q, c) {
			if !r.affordName(q, c) {
				continue
			}
		} else if !q.afford(questionCost) {
			return
		}
		reason := q.explain(r.now, Reason{Peer: c.record.Peer, Why: c.why, Probability: c.p})
		c.question = question{state: asking, since: r.now, until: r.now + r.cfg.ConfirmTimeout, reason: reason}
		c.asked = true
		r.waitFor(q, c, 1)
		q.stats.Probes++
		if q.probing == 1 {
			q.patience = r.cfg.HedgeAfter
			q.hedgeAt = r.now + q.patience
		}
		r.ask(q, c.record, wire.HaveRequest{Keys: [][]byte{q.Key}, Private: q.Private})
	}
}

// hedge widens an Any query that has waited too long: by one more confirmation, then three, seven and so on. Each wait
// is twice as long as the one before.
func (r *Router) hedge(q *search) {
	if q.Mode != wire.Any || q.probing == 0 || r.now < q.hedgeAt {
		return
	}
	r.waitsInVain(q)
	q.extra = min(2*q.extra+1, r.cfg.Parallel)
	q.patience *= 2
	q.hedgeAt = r.now + q.patience
}

// stages lists what a query tries, in order, once its candidates are exhausted. A stage reports whether it found
// something to do. If it cannot be taken again, it reports false from then on.
var stages = [...]func(*Router, *search) bool{
	(*Router).cover, (*Router).sweep, (*Router).askPrecise, (*Router).forward,
}

// escalate takes the next stage. It returns false if no stage is left.
func (r *Router) escalate(q *search) bool {
	return slices.ContainsFunc(stages[:], func(stage func(*Router, *search) bool) bool { return stage(r, q) })
}
