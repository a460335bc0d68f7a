package routing

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/wire"
)

// referrer is a peer that was asked to name peers that may hold the key, and the fate of its names. It is a child if
// the query was forwarded to it, else a contact that was asked for candidates.
type referrer struct {
	question
	index int // index in search.referrers
	peer  wire.PeerID
	child bool

	hits, misses  int  // names that proved right and wrong; naming itself is no hit: that costs a liar nothing
	given, silent int  // names taken from its answers, and the number of these peers that do not answer
	givenUp       bool // too many of its names were wrong
	proved        bool // it has named holders in earlier queries
	overdue       bool // one of its names has kept the query waiting

	// of a contact
	contact      region.Contact
	precise      bool          // it is asked because it expects fewer false matches than our directory
	falseMatches float64       // false matches that it expects of a query, if it is precise
	heard        bool          // it has answered
	judged       bool          // its answer proved right or wrong
	denied       bool          // its answer proved wrong
	late         bool          // its answer came after others were asked in its place
	depth        int           // depth of the range that it answered for
	names        []wire.PeerID // peers that it named

	// of a child
	reserved int // messages set aside for it
	reported int // messages that it claims to have used, at most reserved
}

// refer adds the referrer v, which is asked for names. Its answer is awaited until a time; why explains the question.
func (r *Router) refer(q *search, v referrer, until time.Duration, why Reason) {
	v.peer, v.index, v.proved = why.Peer, len(q.referrers), r.proved(why.Peer)
	v.question = question{state: asking, since: r.now, until: until, reason: q.explain(r.now, why)}
	q.referrers = append(q.referrers, v)
}

// contactOf returns the contact that is this peer; nil: it was not asked for candidates.
func (q *search) contactOf(p wire.PeerID) *referrer { return q.referrer(p, false) }

// childOf returns the child that is this peer; nil: the query was not forwarded to it.
func (q *search) childOf(p wire.PeerID) *referrer { return q.referrer(p, true) }

func (q *search) referrer(p wire.PeerID, child bool) *referrer {
	for i := range q.referrers {
		if v := &q.referrers[i]; v.peer == p && v.child == child {
			return v
		}
	}
	return nil
}

// contactsAsked returns the number of contacts that were asked.
func (q *search) contactsAsked() (n int) {
	for i := range q.referrers {
		if !q.referrers[i].child {
			n++
		}
	}
	return n
}

// credit counts a hit for a referrer: a peer that it named holds the key.
func (q *search) credit(referrer int, holder wire.PeerID) {
	if v := &q.referrers[referrer]; v.peer != holder {
		v.hits++
	}
}

// doubtful reports whether the names of a referrer are in doubt.
func (v *referrer) doubtful() bool {
	return v.givenUp || v.hits == 0 && !v.proved && (v.silent > 0 || v.overdue)
}

// allSilent reports whether all names of a contact, and at least the given number, belong to peers that do not answer.
// Each of them costs a dial.
func (v *referrer) allSilent(least int) bool {
	return !v.child && v.silent >= least && v.silent == v.given
}

// unanswered notes that a referrer did not answer. The failure counts against it, unless the question was not sent for
// want of room here, or its answer was not waited for. The messages set aside for a child stay spent, because nobody
// knows how many of them were used.
func (r *Router) unanswered(q *search, v *referrer, here bool) {
	if !here && v.until > v.since {
		r.noteFailure(v.peer, v.since, true, false)
	}
	v.state = failed
	q.conclude(r.now, v.reason, Failed)
	if v.child {
		return
	}
	q.spoken(v.peer, false)
	q.giveBack(questionCost)
	r.emit(event.ContactAnswered{Peer: v.peer, Failed: true})
}

// giveBack adds messages that a referrer took to the budget again, at most forContacts in all. So contacts that are
// gone, and children that claim to have spent all of their share, do not keep the query from asking others.
func (q *search) giveBack(messages int) {
	messages = min(messages, q.forContacts-q.returned)
	q.returned += messages
	q.Budget += messages
}

// noAnswer notes that a peer will not answer a query's question for names. It returns false if the query awaits no such
// answer.
func (r *Router) noAnswer(q *search, p wire.PeerID, here bool) bool {
	for i := range q.referrers {
		if v := &q.referrers[i]; v.peer == p && v.state == asking {
			r.unanswered(q, v, here)
			return true
		}
	}
	return false
}
