package routing

import (
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/region"
)

// search is an open query: the caller's, or one that serves a peer's search.
type search struct {
	Query
	origin overlay.PeerID // whose query it is
	nonce  uint64         // names it among the origin's
	hops   int            // it may still travel
	serves *request       // nil: the caller's own

	forContacts int // messages that are added to the budget when contacts are asked
	forSilent   int // messages returned for contacts that did not answer; at most forContacts

	started time.Duration

	candidates []candidate
	index      map[overlay.PeerID]int // into candidates
	order      []int                  // of candidates, best first; those no longer waiting are passed over
	asks       []ask
	cover      covering
	children   []child
	referrers  []referrer // those who name peers: contacts and children
	visited    []uint32   // marks of peers that had the query before this node (see Visited)
	retried    bool       // failures were given their second chance
	swept      bool       // the linked peers were asked
	looked     bool       // settled has been computed
	settled    bool       // the collections of all known peers are known: only candidates need be asked
	forwarded  bool

	found    int
	probing  int           // confirmations under way
	extra    int           // confirmations at a time beyond those that could suffice (Any)
	patience time.Duration // before the next hedge
	hedgeAt  time.Duration
	spent    int           // messages, with what is set aside for children
	vain     int           // messages of these spent on names in doubt
	short    bool          // something was not asked for want of budget
	relied   bool          // knowledge stood in for some questions
	asOf     time.Duration // the earliest instant at which that knowledge was true
	stats    Stats
	wake     time.Duration // when to look again
	timer    int           // index in timers
}

type state uint8

const (
	waiting state = iota
	asking
	answered // a contact or child: an answer came. A candidate: it holds the key
	lacking
	failed
	passed  // not to be asked any more
	shunned // not to be asked at all: it failed to answer a moment ago
)

// candidate is a peer that may hold the key.
type candidate struct {
	record   overlay.Record
	why      Why
	matched  bool    // by its summary here
	precise  bool    // in the range that the directory knows well
	rate     float64 // false-positive rate of the prefix that matched; 1 when none did
	likely   float64 // probability by the summary alone, before trust
	keys     int     // number of keys that its summary is of, if that matched
	sized    float64 // likely, corrected by the size of its collection
	trust    float64
	p        float64 // probability that it holds the key
	cost     float64
	tie      uint64
	namedBy  int // index in search.referrers; -1: nobody
	standing standing
	spoken   bool // it is being asked for candidates, and names itself if it holds the key
	state    state
	tries    int
	since    time.Duration
	reason   int // index in Stats.Explain
}

// referrer is a contact or child that names peers, and the fate of its names.
type referrer struct {
	peer          overlay.PeerID
	hits, misses  int  // naming itself is no hit: that costs a liar nothing
	names, silent int  // names in a contact's answer, and how many of these peers do not answer
	givenUp       bool // too many of its names were wrong
	proved        bool // it has named holders in earlier queries
	overdue       bool // one of its names has kept the query waiting
}

// ask is a question to a contact.
type ask struct {
	peer         overlay.PeerID
	contact      region.Contact
	falseMatches float64 // false matches that it expects of a query; +Inf: unknown, or not to be relied on
	heard        bool    // it has answered
	judged       bool    // its answer proved right or wrong
	denied       bool    // its answer proved wrong
	suspect      bool    // it had failed to answer before
	depth        int     // of the range that it answered for
	names        []overlay.PeerID
	referrer     int // index in search.referrers
	state        state
	since        time.Duration
	reason       int
}

// child is a linked peer that the query was forwarded to.
type child struct {
	peer     overlay.PeerID
	reserved int // messages set aside for it
	reported int // messages that it says it used, at most reserved
	names    int // that it returned
	referrer int // index in search.referrers
	state    state
	until    time.Duration
	reason   int
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

// rely records that knowledge of an instant stood in for a question.
func (q *search) rely(instant time.Duration) {
	if !q.relied || instant < q.asOf {
		q.relied, q.asOf = true, instant
	}
}

// age returns the age of the oldest knowledge that stood in for a question; 0: none did.
func (q *search) age(now time.Duration) time.Duration {
	if !q.relied {
		return 0
	}
	return max(now-q.asOf, 1)
}

// enough reports whether the query has found what it wants.
func (q *search) enough() bool {
	return q.Mode == Any && (q.found >= q.Want || q.stats.Self && q.Want == 1 && !q.Others)
}

// excluded reports whether a peer must not be asked: this node, the asker, or a peer that had the query before.
func (q *search) excluded(self, p overlay.PeerID) bool {
	return p == "" || p == self || p == q.origin || q.serves != nil && (p == q.serves.from || q.hadBefore(p))
}

// newReferrer adds a referrer for a peer and returns its index.
func (r *Router) newReferrer(q *search, p overlay.PeerID) int {
	q.referrers = append(q.referrers, referrer{peer: p, proved: r.proved(p)})
	return len(q.referrers) - 1
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

// credit counts a hit for a referrer: a peer that it named holds the key.
func (q *search) credit(referrer int, holder overlay.PeerID) {
	if v := &q.referrers[referrer]; v.peer != holder {
		v.hits++
	}
}

func (q *search) askOf(p overlay.PeerID) *ask {
	for i := range q.asks {
		if q.asks[i].peer == p {
			return &q.asks[i]
		}
	}
	return nil
}

func (q *search) childOf(p overlay.PeerID) *child {
	for i := range q.children {
		if q.children[i].peer == p {
			return &q.children[i]
		}
	}
	return nil
}

// waitingFor reports whether an answer of a contact or child, or more contacts, are still awaited.
func (q *search) waitingFor() bool {
	if q.cover.wanted {
		return true
	}
	for i := range q.asks {
		if q.asks[i].state == asking {
			return true
		}
	}
	for i := range q.children {
		if q.children[i].state == asking {
			return true
		}
	}
	return false
}
