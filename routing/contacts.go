package routing

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/routing/defence"
	"github.com/venn-p2p/venn/routing/match"
)

// Where a directory covers a part of the network, a search covers the rest by contacts: peers that each know a range of
// it. Their names are confirmed as an informant's are. The widest ranges come first, and an Any query asks few contacts
// at a time. When each range was asked once and nobody was found, a second contact speaks for each: one alone may lie.

const (
	// contactsAtOnce is how many contacts an Any query asks at a time, to begin with.
	contactsAtOnce = 2
	// After each oneMoreEach contacts asked, one more is asked at a time: a long search is wider, and ends in time.
	oneMoreEach = 8
	// contactPatience is how many times as long a contact may take as a confirmation: mostly a connection is made first.
	contactPatience = 2
	// contactMatches is how many false matches are expected among the names that a contact gives.
	contactMatches = 1
)

// covering is how far a query has got with the ranges beside ours.
type covering struct {
	begun    bool
	over     bool // nobody is left to ask, and nobody under way
	contacts []coverage.Contact
	once     coverage.Set // what somebody has answered for, our own directory included
	twice    coverage.Set // what two have answered for
}

// cover begins to ask contacts; false when there are none, or they were asked before.
func (r *Router) cover(q *flight) bool {
	if q.cover.begun || q.serves != nil {
		return false
	}
	q.cover.begun = true
	if !q.blurred {
		if q.cover.contacts = r.view.Contacts(); len(q.cover.contacts) > 0 {
			q.Budget += q.forContacts
		}
	}
	r.askContacts(q)
	return q.contactsAsked() > 0 || q.blurred
}

// askContacts asks as many contacts as may be asked now.
func (r *Router) askContacts(q *flight) {
	if !q.cover.begun || len(q.cover.contacts) == 0 || q.Mode == Any && r.hopeful(q) {
		return
	}
	under := 0
	for i := range q.asks {
		if a := &q.asks[i]; a.contact > 0 && a.state == asking && !r.overdue(q, a) {
			under++
		}
	}
	width := r.cfg.Parallel
	if q.Mode == Any {
		width = contactsAtOnce + q.contactsAsked()/oneMoreEach
	}
	for ; under < width; under++ {
		i := r.nextContact(q)
		if i < 0 || !q.afford(askCost) {
			q.cover.over = under == 0
			return
		}
		c := &q.cover.contacts[i]
		p := overlay.PeerID(c.Peer)
		reason := q.explain(r.now, Reason{Peer: p, Why: Contact})
		q.asks = append(q.asks, ask{
			peer: p, contact: i + 1, falseMatches: contactMatches, voice: r.newVoice(q, p), state: asking, since: r.now, reason: reason,
		})
		q.spoken(p, true)
		r.emit(AskCandidates{ID: q.ID, To: p, Envelope: c.Record, Key: q.Key, Fingerprint: q.Fingerprint, Mode: q.Mode})
	}
}

// impatient says from when on others are asked beside a contact that has not answered, in its range too; ok is false when
// its answer is waited for.
func (r *Router) impatient(q *flight, a *ask) (from time.Duration, ok bool) {
	return a.since + contactPatience*r.cfg.HedgeAfter, a.contact > 0 && q.Mode == Any && !q.blurred
}

// overdue says whether others are asked by now beside a contact that has not answered.
func (r *Router) overdue(q *flight, a *ask) bool {
	from, ok := r.impatient(q, a)
	return ok && r.now >= from
}

// contactsAsked is how many contacts were asked so far.
func (q *flight) contactsAsked() int {
	n := 0
	for i := range q.asks {
		if q.asks[i].contact > 0 {
			n++
		}
	}
	return n
}

// nextContact is the contact to ask next, -1 for nobody. It is for ranges that nobody has answered for and then, while
// nobody is found, for those that one alone has. No second contact is asked while the first may still answer, or a peer
// that it named.
func (r *Router) nextContact(q *flight) int {
	asked, waits := make(map[int]bool, len(q.asks)), q.probing > 0 || q.next(r.bound(q)) >= 0
	first, second := q.cover.once.Clone(), q.cover.twice.Clone()
	for i := range q.asks {
		a := &q.asks[i]
		if a.contact == 0 {
			continue
		}
		asked[a.contact-1] = true
		if a.state != asking {
			continue
		}
		waits = true
		if rng := q.cover.contacts[a.contact-1].Range(); !r.overdue(q, a) {
			if first.Covers(rng) {
				second.Add(rng)
			}
			first.Add(rng)
		}
	}
	was := func(i int) bool {
		p := overlay.PeerID(q.cover.contacts[i].Peer)
		return asked[i] || q.excluded(r.cfg.Self, p) || q.askOf(p) != nil || r.standing(p) == resting || q.blurred && r.doubt(p) > 0
	}
	key := match.Tie(uint64(q.Fingerprint)^r.salt, "")
	known := func(i int) bool { return was(i) || q.blurred && first.Contains(q.cover.contacts[i].Place) }
	if i := coverage.Next(q.cover.contacts, &first, known, r.worthOf(q), key); i >= 0 || waits || q.found > 0 || r.cfg.Undefended.Has(defence.Second) {
		return i
	}
	return coverage.Next(q.cover.contacts, &second, was, nil, key)
}

// answeredFor notes that a peer has answered for the range of a depth around its place.
func (q *flight) answeredFor(p coverage.Place, depth int) {
	rng := coverage.Around(p, depth)
	if q.cover.once.Covers(rng) {
		q.cover.twice.Add(rng)
	}
	q.cover.once.Add(rng)
}

// contactAnswered takes in what a contact's answer says besides names.
func (r *Router) contactAnswered(q *flight, a *ask, in CandidatesReceived) {
	if a.contact == 0 {
		return
	}
	c := &q.cover.contacts[a.contact-1]
	a.heard = true
	a.depth = min(max(in.Depth, 0), coverage.MaxDepth)
	for _, rec := range in.Records {
		a.names = append(a.names, rec.Peer)
	}
	depth := max(a.depth, c.Depth) // no more than it was asked for: a late boast is not believed
	q.answeredFor(c.Place, depth)
	r.emit(ContactOutcome{Peer: a.peer, Depth: a.depth})
	if q.blurred {
		r.denied(q, coverage.Around(c.Place, depth), a.names)
	}
	for i := range q.candidates {
		if p := &q.candidates[i]; p.state == answered {
			r.judge(q, a, p.record.Peer)
		}
	}
}

// judge reports to the overlay whether a contact was right about a peer that holds the key. It should have named the
// holder if that is of the range that it answered for.
func (r *Router) judge(q *flight, a *ask, holder overlay.PeerID) {
	if a.contact == 0 || !a.heard || a.judged || a.peer == holder || len(a.names) >= MaxNames(q.Mode) {
		return
	}
	switch named := slices.Contains(a.names, holder); {
	case named:
		r.emit(ContactOutcome{Peer: a.peer, Depth: a.depth, Proved: true})
	case coverage.Around(q.cover.contacts[a.contact-1].Place, a.depth).Contains(placeOf(holder)):
		r.emit(ContactOutcome{Peer: a.peer, Depth: a.depth, Denied: true})
		a.denied = true
	default:
		return
	}
	a.judged = true
}

// placeOf is the place of a peer.
func placeOf(p overlay.PeerID) coverage.Place { return coverage.Place(group.OriginTag(string(p))) }

// contactFailed tells the overlay that a contact did not answer.
func (r *Router) contactFailed(a *ask) {
	if a.contact > 0 {
		r.emit(ContactOutcome{Peer: a.peer, Failed: true})
	}
}
