package routing

import (
	"maps"
	"slices"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// candidateIn returns the candidate that a confirmation is about; nil if the query never asked that peer.
func (r *Router) candidateIn(id QueryID, p wire.PeerID) (*search, *candidate) {
	q := r.open[id]
	if q == nil {
		return nil, nil
	}
	i, ok := q.index[p]
	if !ok || !q.candidates[i].asked {
		return nil, nil
	}
	return q, &q.candidates[i]
}

// confirmed handles a peer's answer to a confirmation. A late answer counts too, even if the machine had given it up.
func (r *Router) confirmed(id QueryID, p wire.PeerID, has bool, bytes int) {
	r.lives(p)
	q, c := r.candidateIn(id, p)
	if q == nil || c.state == answered || c.state == lacking {
		return
	}
	if c.state == asking {
		r.waitFor(q, c, -1)
	}
	c.state = lacking
	if has {
		c.state = answered
	}
	q.stats.Explain[c.reason].Bytes = bytes
	r.score(q, c, has)
	if has {
		q.found++
		r.provide(q, c.record)
	}
	r.advance(q)
}

// waitFor counts the confirmations under way to a peer: by 1 when one is asked for, by -1 when one is no longer
// awaited.
func (r *Router) waitFor(q *search, c *candidate, n int) {
	q.probing += n
	if r.load[c.record.Peer] += n; r.load[c.record.Peer] == 0 {
		delete(r.load, c.record.Peer)
	}
}

// score counts a candidate's answer for the query, for the peer's reputation, for the prior, and for the referrer that
// named the peer.
func (r *Router) score(q *search, c *candidate, has bool) {
	if has {
		q.conclude(r.now, c.reason, Holds)
		r.emit(event.Outcome{Peer: c.record.Peer, Hits: 1})
	} else if q.conclude(r.now, c.reason, Lacks); c.why != Linked {
		q.stats.FalseProbes++
		q.extra = min(q.extra+1, r.cfg.Parallel)
		if c.matched && c.likely >= overlay.SureMatch {
			r.emit(event.Outcome{Peer: c.record.Peer, Misses: 1})
		}
	}
	if c.why == Matched && c.trust >= match.MinTrust {
		r.prior.Learn(c.rate, has)
	}
	if has && c.namedBy >= 0 {
		q.credit(c.namedBy, c.record.Peer)
	}
	if !has {
		r.wrongName(q, c)
	}
}

// provide hands a confirmed provider to the asker: the caller or a peer.
func (r *Router) provide(q *search, rec wire.Record) {
	if q.serves != nil {
		r.pass(q, rec)
		return
	}
	q.stats.Found++
	for i := range q.referrers {
		r.judge(q, &q.referrers[i], rec.Peer)
	}
	r.emit(Found{ID: q.ID, Provider: rec})
}

// confirmFailed handles a confirmation that brought no answer. The failure counts against the peer even after the end
// of the query, unless the question was not even sent for want of room here.
func (r *Router) confirmFailed(id QueryID, p wire.PeerID, here bool) {
	q, c := r.candidateIn(id, p)
	if q == nil || c.state != asking {
		if !here {
			r.noteFailure(p, r.now, true, false)
		}
		return
	}
	if here {
		r.waitFor(q, c, -1)
		c.state = failed
		q.conclude(r.now, c.reason, Failed)
	} else {
		r.fail(q, c)
	}
	r.advance(q)
}

// fail notes that a confirmation brought no answer.
func (r *Router) fail(q *search, c *candidate) {
	r.waitFor(q, c, -1)
	r.noteFailure(c.record.Peer, c.since, true, false)
	c.state = failed
	q.conclude(r.now, c.reason, Failed)
	r.wrongName(q, c)
	r.silentName(q, c)
}

// candidatesReceived handles the names in a contact's answer.
func (r *Router) candidatesReceived(id QueryID, p wire.PeerID, names wire.Answer, bytes int) {
	r.lives(p)
	q := r.open[id]
	if q == nil {
		return
	}
	a := q.contactOf(p)
	if a == nil || a.state == answered {
		return
	}
	a.state, a.late = answered, r.overdue(q, a)
	q.spoken(a.peer, false)
	q.conclude(r.now, a.reason, r.selfConfirmed(q, a, names.Records))
	reason := &q.stats.Explain[a.reason]
	reason.Names, reason.Bytes = len(names.Records), bytes
	if q.cover.poor {
		names.Records = q.inRange(a, names.Records)
	}
	r.named(q, a, Named, q.fewNames(a, names.Records))
	r.contactAnswered(q, a, names)
	r.advance(q)
}

// askFailed handles the end of a question for names, or of a forwarded search, without a further answer.
func (r *Router) askFailed(id QueryID, p wire.PeerID, here bool) {
	if q := r.open[id]; q != nil && r.noAnswer(q, p, here) {
		r.advance(q)
	}
}

// unresponsive notes that a peer gives no sign of life: no query waits for it any more, and none asks it again. gone is
// set if it was looked for in vain.
func (r *Router) unresponsive(p wire.PeerID, gone bool) {
	r.noteFailure(p, r.now, true, gone)
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		q := r.open[id]
		if q == nil { // the end of another query has ended it
			continue
		}
		waited := r.noAnswer(q, p, false)
		if i, ok := q.index[p]; ok && q.candidates[i].state == asking {
			c := &q.candidates[i]
			r.fail(q, c)
			c.standing, waited = suspect, true
		}
		if waited {
			r.advance(q)
		}
	}
}
