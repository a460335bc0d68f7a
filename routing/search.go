package routing

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// search is an open query: the caller's, or one that serves a peer's search.
type search struct {
	Query
	fingerprint summary.Fingerprint // fingerprint of the key
	origin      wire.PeerID         // the peer that began the query
	nonce       uint64              // names the query among the origin's
	hops        int                 // links that it may still travel
	serves      *request            // the request that it answers; nil: the caller began it

	forContacts int // messages that are added to the budget when contacts are asked
	returned    int // messages charged for referrers and given back to the budget; at most forContacts

	started time.Duration

	candidates []candidate
	index      map[wire.PeerID]int // index in candidates, by peer
	order      []int               // indices of candidates, best first; candidates no longer waiting are passed over
	cover      covering
	referrers  []referrer // contacts and children, in the order of asking
	visited    []uint32   // marks of peers that had the query before this node (see Visited)
	swept      bool       // the linked peers were asked
	looked     bool       // settled has been computed
	settled    bool       // the collections of all known peers are known: only candidates need be asked
	forwarded  bool

	found    int           // providers found, confirmed or believed
	probing  int           // confirmations under way
	extra    int           // confirmations at a time beyond those that could suffice (Any)
	patience time.Duration // time before the next hedge
	hedgeAt  time.Duration
	spent    int           // messages taken off the budget, including those set aside for children
	vain     int           // messages of these spent on names in doubt
	short    bool          // a peer was not asked for want of budget
	relied   bool          // knowledge replaced some questions
	asOf     time.Duration // the earliest instant at which that knowledge was true
	stats    Stats
	wake     time.Duration // when the query must be advanced again
	timer    int           // index in timers
}

type state uint8

const (
	waiting state = iota
	asking
	answered // a contact or child: an answer came. A candidate: it holds the key
	lacking  // a candidate: it lacks the key
	failed
	passed  // not to be asked any more
	shunned // not to be asked at all: it failed to answer a moment ago
)

// question is the state of a question to a peer.
type question struct {
	state  state
	since  time.Duration // when it was asked
	until  time.Duration // when it is given up
	reason int           // index in Stats.Explain
}

// candidate is a peer that may hold the key.
type candidate struct {
	question
	record   wire.Record
	why      Why
	matched  bool    // its summary here matches the key
	precise  bool    // it lies in the range that the directory knows well
	rate     float64 // false-positive rate of the prefix that matched; 1 if none did
	likely   float64 // probability by the summary alone, before trust
	keys     int     // number of keys in its summary, if that matched
	sized    float64 // likely, corrected by the size of its collection
	hits     int     // keys that it has confirmed recently; 0 if its summary here does not match
	trust    float64 // factor by which its record lowers belief in its claims
	p        float64 // probability that it holds the key
	cost     float64 // cost of asking it, in seconds
	tie      uint64
	namedBy  int // index in search.referrers; -1: nobody
	standing standing
	spoken   bool // it is being asked for candidates, and names itself if it holds the key
	asked    bool // it was asked for a confirmation
}

// afford takes n messages off the budget. It returns false, and takes none, if fewer are left.
func (q *search) afford(n int) bool {
	if q.spent+n > q.Budget {
		q.short = true
		return false
	}
	q.spent += n
	return true
}

// rely records that knowledge of an instant replaced a question.
func (q *search) rely(instant time.Duration) {
	if !q.relied || instant < q.asOf {
		q.relied, q.asOf = true, instant
	}
}

// age returns the age of the oldest knowledge that replaced a question; 0: none did.
func (q *search) age(now time.Duration) time.Duration {
	if !q.relied {
		return 0
	}
	return max(now-q.asOf, 1)
}

// enough reports whether the query has found the providers that it wants.
func (q *search) enough() bool {
	return q.Mode == wire.Any && (q.found >= q.Want || q.stats.Self && q.Want == 1 && !q.Others)
}

// excluded reports whether a peer must not be asked: this node, the asker, or a peer that had the query before.
func (q *search) excluded(self, p wire.PeerID) bool {
	return p == "" || p == self || p == q.origin || q.serves != nil && (p == q.serves.from || q.hadBefore(p))
}

// explain notes a question, and returns the index of its reason.
func (q *search) explain(now time.Duration, r Reason) int {
	r.At = now - q.started
	q.stats.Explain = append(q.stats.Explain, r)
	return len(q.stats.Explain) - 1
}

// conclude records the result of a question.
func (q *search) conclude(now time.Duration, reason int, result Result) {
	r := &q.stats.Explain[reason]
	r.Result, r.Took = result, now-q.started-r.At
}

// waitingFor reports whether an answer of a contact or child, or more contacts, are still awaited.
func (q *search) waitingFor() bool {
	return q.cover.wanted || slices.ContainsFunc(q.referrers, func(v referrer) bool { return v.state == asking })
}
