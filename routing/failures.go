package routing

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// failure records that a peer did not answer.
type failure struct {
	last  time.Duration // when the failure was noted
	asked time.Duration // when it was asked the question that it did not answer
	noted bool          // there is a failure
	sure  bool          // the peer had the full time for an answer; else a query ended meanwhile
	gone  bool          // no connection to it could be made when it was looked for
}

// noteFailure records that a peer failed to answer a question put at the time asked. sure is set if the peer had the
// full time for an answer; gone, if it was looked for in vain. The peer rests from the question on: from the first of
// several that were put at a time.
func (r *Router) noteFailure(p wire.PeerID, asked time.Duration, sure, gone bool) {
	c, f := r.conduct(p), failure{last: r.now, asked: asked, noted: true, sure: sure, gone: gone}
	if old, ok := r.failure(p); ok {
		f.sure, f.gone = sure || old.sure, gone || old.gone
		if old.sure && asked < old.asked+r.cfg.Limits.Rest {
			f.last, f.asked = old.last, old.asked
		}
	}
	c.failure = f
	r.note(p, c)
}

// failure returns a peer's failure; ok is false if it has none that still counts.
func (r *Router) failure(p wire.PeerID) (f failure, ok bool) {
	f = r.conduct(p).failure
	return f, f.noted && r.now < f.last+r.cfg.Limits.Forgive
}

// lives notes that a peer has sent an answer or a request: its failure counts no more. If it was gone, others may be
// back with it, as after a partition: from now on they rest no longer than other peers that failed.
func (r *Router) lives(p wire.PeerID) {
	r.words.Remove(p)
	if c := r.conduct(p); c.failure.noted {
		if c.failure.gone {
			r.returned = r.now
		}
		c.failure = failure{}
		r.note(p, c)
	}
}

// hear notes a link's word that it could not reach a peer. The word may be a lie, so the peer is only asked after all
// others, until it is heard or the word is as old as a failure that counts no more.
func (r *Router) hear(p wire.PeerID) {
	r.words.Add(p, r.now)
}

// doubts reports whether a link's word on a peer counts.
func (r *Router) doubts(p wire.PeerID) bool {
	at, said := r.words.Peek(p)
	return said && r.now < at+r.cfg.Limits.Forgive
}

// takenBack notes that a link takes its word back. That may be a lie, too, so a peer that did not answer us still
// counts as one that failed.
func (r *Router) takenBack(p wire.PeerID) {
	r.words.Remove(p)
	if f, failed := r.failure(p); failed && f.gone {
		r.returned = r.now
	}
}

// rests reports whether a named peer must not be asked because it failed a moment ago. A peer whose summary is held is
// known by more than its name: it rests no longer than any match.
func (r *Router) rests(p wire.PeerID) bool {
	f, ok := r.failure(p)
	return ok && r.now < f.last+r.cfg.Limits.NameRest && !r.view.HasSummary(p)
}

// Suspected reports whether a peer has failed to answer, or links said so, and it was not heard since.
func (r *Router) Suspected(p wire.PeerID) bool { return r.standing(p) != sound }

// standing is the effect of a peer's failures, and of links' words, on a query. An answer slower than another peer's
// only moves the peer back in the order: busy peers are slow too.
type standing uint8

const (
	sound   standing = iota
	doubted          // asked after all others
	suspect          // asked after all others, and not waited for
	resting          // not asked
)

func (r *Router) standing(p wire.PeerID) standing {
	f, ok := r.failure(p)
	switch {
	case !ok && !r.doubts(p):
		return sound
	case !ok, !f.sure:
		return doubted
	case r.now < f.asked+r.cfg.Limits.Rest, f.gone && f.last >= r.returned && r.now < f.last+r.cfg.Limits.NameRest:
		return resting
	}
	return suspect
}
