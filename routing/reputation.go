package routing

import (
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
)

// doubtFrom is the number of bad marks, beyond twice the good ones, that puts a referrer in doubt.
const doubtFrom = bound.Signs

// reputation is the fading record of the names that a peer gave in earlier queries.
type reputation struct {
	good, bad float64 // marks for queries in which it did well and badly, as they counted at the time at
	at        time.Duration
}

// faded returns the record as it counts at a time, given its half-life.
func (v reputation) faded(now, half time.Duration) reputation {
	f := math.Exp2(-float64(now-v.at) / float64(half))
	return reputation{v.good * f, v.bad * f, now}
}

// reputation returns the record of a peer as it counts now.
func (r *Router) reputation(p wire.PeerID) reputation {
	return r.conduct(p).reputation.faded(r.now, r.cfg.Limits.Fade)
}

// weigh adds good and bad marks to the record of a peer.
func (r *Router) weigh(p wire.PeerID, good, bad float64) {
	c, v := r.conduct(p), r.reputation(p)
	c.reputation = reputation{v.good + good, v.bad + bad, r.now}
	r.note(p, c)
}

// doubt returns 1 for a peer whose names were mostly wrong recently, 0 for others.
func (r *Router) doubt(p wire.PeerID) int {
	if v := r.reputation(p); v.bad < 2*v.good+doubtFrom {
		return 0
	}
	return 1
}

// proved reports whether a peer has recently named holders, and few wrong peers.
func (r *Router) proved(p wire.PeerID) bool {
	v := r.reputation(p)
	v.good += r.cfg.Limits.Credit
	return v.good >= 0.5 && v.good > v.bad
}

// judgeReferrers updates reputations at the end of a query. A peer that named a holder did well. A peer did badly if it
// failed, if its names were given up, or if it named no holder although it should have: one in its range, or anywhere
// if it claims to know the whole network precisely. Naming itself counts neither way. A peer all of whose names are
// silent, and a more precise peer that is late, did worse: each search waits for them.
func (r *Router) judgeReferrers(q *search) {
	for i := range q.referrers {
		v := &q.referrers[i]
		switch {
		case v.hits > 0:
			r.weigh(v.peer, 1, 0)
		case v.allSilent(r.cfg.Limits.Silent), v.precise && (v.late || v.state == asking && r.overdue(q, v)):
			r.weigh(v.peer, 0, doubtFrom)
		case v.child && v.misses > 0, !v.child && r.didBadly(q, v):
			r.weigh(v.peer, 0, 1)
		}
	}
}

// didBadly reports whether a contact that named no holder gets a bad mark.
func (r *Router) didBadly(q *search, v *referrer) bool {
	return v.givenUp || v.state == failed || v.denied || q.boasted(v, r.cfg.Useless)
}

// boasted reports whether a peer claims to expect at most falseMatches false matches, but named none of the holders
// found besides itself. The range of its answer does not matter: it was asked first because of its claim for the whole
// network.
func (q *search) boasted(a *referrer, falseMatches float64) bool {
	if !a.precise || a.state != answered || a.falseMatches > falseMatches {
		return false
	}
	others := false
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == answered && c.record.Peer != a.peer {
			if slices.Contains(a.names, c.record.Peer) {
				return false
			}
			others = true
		}
	}
	return others
}
