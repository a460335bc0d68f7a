package routing

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// A peer that is asked for candidates learns the key, as in a confirmation. If it names itself, it holds the key and
// need not be asked again. So no peer is asked to confirm while it is asked for candidates. To name itself costs a
// liar nothing: it proves nothing for later, and counts only from peers that have confirmed keys before.

// selfConfirmed records whether a peer that was asked for candidates named itself. If it has confirmed no key recently,
// or its claims or names were mostly wrong, this counts as any other name does.
func (r *Router) selfConfirmed(q *search, a *referrer, records []wire.Record) Result {
	i := slices.IndexFunc(records, func(rec wire.Record) bool { return rec.Peer == a.peer })
	if i < 0 {
		return Answered
	}
	c := r.learn(q, records[i])
	if c == nil || c.state == answered || c.state == lacking || c.hits == 0 || c.trust < match.MinTrust || r.doubt(a.peer) > 0 {
		return Answered
	}
	if c.state == asking {
		r.waitFor(q, c, -1)
		q.conclude(r.now, c.reason, Holds)
	}
	c.state = answered
	q.found++
	r.provide(q, c.record)
	return Holds
}

// spoken sets whether the candidate p is being asked for names now.
func (q *search) spoken(p wire.PeerID, now bool) {
	if i, ok := q.index[p]; ok {
		q.candidates[i].spoken = now
	}
}
