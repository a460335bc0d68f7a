package routing

import (
	"maps"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// Where a directory covers a part of the network, a search covers the rest by contacts: peers that each know a range of
// it. Their names are confirmed. The widest ranges come first, and an Any query asks few contacts at a time. Once each
// range was asked about and no holder was found, a second contact is asked about each: one alone may lie. Where a
// directory covers all, but knows too little of it, the contacts are peers that know it better.

const (
	// contactsAtOnce is the number of contacts that an Any query asks at a time, to begin with. With one, a query takes
	// 2.65 messages and p99 is 1.33 s, with four 3.48 and .69 s; with two 2.94 and .88 s (scenario routing, 200 peers,
	// origins=24).
	contactsAtOnce = region.ContactsEach
	// contactPatience is the time that a contact, or a peer asked for more contacts, may take, in multiples of HedgeAfter:
	// mostly a connection is made first. With one, p99 is 3.8 s where half are killed, with four 7.0 s; with two 4.9 s
	// (200 peers, origins=24). But with one a query takes 3.46 messages on lines of 256 kbit/s, and 3.26 with two (150
	// peers).
	contactPatience = 2
	// mostWants is the number of times that a query may want more contacts.
	mostWants = bound.Handful
)

// covering is the state of asking contacts: the contacts, and the ranges that were answered for.
type covering struct {
	poor     bool // the directory covers all, and contacts know it, or a range of it, more precisely
	begun    bool
	over     bool // all contacts were asked, and no answer is awaited
	contacts []region.Contact
	matches  []float64 // false matches that each precise contact expects; these contacts come first
	deep     int       // median depth of the contacts' ranges
	own      space.Set // ranges that the own directory answers for
	once     space.Set // ranges with at least one answer, the own directory's included
	twice    space.Set // ranges with two answers

	wants    int           // times that more contacts were wanted
	wanted   bool          // more contacts are awaited
	gained   bool          // some of the awaited contacts have come
	since    time.Duration // when more contacts were last wanted
	reserved int           // messages set aside until the number of peers asked is known
}

// precise reports whether the contact with this index is asked because it expects fewer false matches than our
// directory.
func (c *covering) precise(contact int) bool { return contact < len(c.matches) }

// begin starts a query's asking of contacts. The ranges that the own directory answers for count as answered.
func (c *covering) begin(own space.Set) {
	c.over = false
	c.own, c.once, c.twice = own, own.Clone(), own.Clone()
}

// setOf returns the set of one range.
func setOf(r space.Range) (s space.Set) {
	s.Add(r)
	return s
}

// recount computes the ranges answered for from the contacts that have not been given up.
func (q *search) recount() {
	q.cover.begin(q.cover.own)
	for i := range q.referrers {
		if v := &q.referrers[i]; v.state == answered && v.heard {
			q.answeredFor(v)
		}
	}
}

// cover begins to ask contacts. It returns false if there are none, or they were asked before.
func (r *Router) cover(q *search) bool {
	if q.cover.begun || q.serves != nil && !q.cover.poor {
		return false
	}
	q.cover.begun = true
	if !q.cover.poor {
		if q.cover.contacts = r.view.Contacts(); len(q.cover.contacts) > 0 {
			q.Budget += q.forContacts
			q.cover.deep = usualDepth(q.cover.contacts)
		}
	}
	r.askContacts(q)
	return q.contactsAsked() > 0 || q.cover.poor
}

// askContacts asks as many contacts as may be asked now.
func (r *Router) askContacts(q *search) {
	if !q.cover.begun || len(q.cover.contacts) == 0 || q.Mode == wire.Any && r.hopeful(q) {
		return
	}
	under := 0
	for i := range q.referrers {
		if v := &q.referrers[i]; !v.child && v.state == asking && !r.overdue(q, v) {
			under++
		}
	}
	width := r.cfg.Parallel
	switch {
	case q.Mode == wire.Any && q.cover.poor:
		width = 1 // one at a time: the ranges of contacts are few, and the likeliest comes first
	case q.Mode == wire.Any:
		width = contactsAtOnce + q.contactsAsked()/r.cfg.Parallel // a long search gets wider, and ends in time
	}
	for ; under < width; under++ {
		i := r.nextContact(q)
		if i < 0 && under == 0 && r.wantContacts(q) {
			return
		}
		if i < 0 || !q.afford(questionCost) {
			q.cover.over = under == 0
			return
		}
		c := q.cover.contacts[i]
		p, v := wire.PeerID(c.Peer), referrer{contact: c}
		if q.cover.precise(i) {
			v.precise, v.falseMatches = true, q.cover.matches[i]
		}
		r.refer(q, v, r.now+r.askTime(p), Reason{Peer: p, Why: Contact})
		q.spoken(p, true)
		r.ask(q, wire.Record{Peer: p, Envelope: c.Record}, wire.Query{
			Kind: wire.Candidates, Origin: r.cfg.Self, Key: q.Key, Mode: q.Mode, Within: r.cfg.AskTimeout,
		})
	}
}

// askTime returns how long a query waits for a contact's answer: not at all if it failed to answer recently, or is in
// doubt.
func (r *Router) askTime(p wire.PeerID) time.Duration {
	if r.standing(p) >= suspect || r.doubt(p) > 0 {
		return 0
	}
	return r.cfg.AskTimeout
}

// impatient returns the time from which other contacts, of v's range too, are asked although v has not answered. ok is
// false for children, and for contacts of ranges in All queries, which wait.
func (r *Router) impatient(q *search, v *referrer) (from time.Duration, ok bool) {
	return v.since + contactPatience*r.cfg.HedgeAfter, !v.child && (q.Mode == wire.Any || v.precise)
}

// overdue reports whether the time that impatient returns has come.
func (r *Router) overdue(q *search, v *referrer) bool {
	from, ok := r.impatient(q, v)
	return ok && r.now >= from
}

// nextContact returns the index of the contact to ask next, -1 for none. It looks for ranges without an answer. While
// no holder is found, it then looks for ranges with one answer only. It asks no second contact of a range while the
// first, or a peer that the first named, may still answer in time; names in doubt do not count. Contacts of several
// ranges are asked side by side.
func (r *Router) nextContact(q *search) int {
	waits := r.hopeful(q)
	first, second := q.cover.once.Clone(), q.cover.twice.Clone()
	for i := range q.referrers {
		v := &q.referrers[i]
		if v.child || v.state != asking || r.overdue(q, v) {
			continue
		}
		if rng := q.expectedRange(v); first.Covers(rng) {
			second.Add(rng)
		} else {
			first.Add(rng)
			waits = true
		}
	}
	unfit := func(i int) bool {
		p := wire.PeerID(q.cover.contacts[i].Peer)
		return q.excluded(r.cfg.Self, p) || q.contactOf(p) != nil || r.standing(p) == resting || q.ofRange(i) && r.doubt(p) > 0
	}
	key := match.Tie(uint64(q.fingerprint)^r.salt, "")
	known := func(i int) bool {
		return unfit(i) || q.ofRange(i) && first.Contains(q.cover.contacts[i].Place)
	}
	i := region.Next(q.cover.contacts, &first, known, r.worthOf(q), key)
	if i >= 0 || waits || q.found > 0 || q.informed(r.cfg.Poor) || r.cfg.Limits.Denials < 2 {
		return i
	}
	if from, ok := r.wantsLong(q); q.cover.wanted && (!ok || r.now < from) {
		return -1
	}
	if !q.cover.wanted && !everybody(&first) && r.mayWant(q) {
		return -1
	}
	return region.Next(q.cover.contacts, &second, unfit, nil, key)
}

// ofRange reports whether the contact with this index knows a range of the network better than a poor directory.
func (q *search) ofRange(contact int) bool {
	return q.cover.poor && !q.cover.precise(contact)
}

// everybody reports whether a set is the whole network.
func everybody(s *space.Set) bool { return s.Covers(space.Range{}) }

// mayWant reports whether a query may still want more contacts.
func (r *Router) mayWant(q *search) bool {
	return !q.cover.poor && q.cover.wants < mostWants && q.spent+r.wantCost() <= q.Budget && r.now < q.Deadline
}

// wantCost returns the number of messages set aside to ask peers for more contacts, as many as a query is forwarded to.
func (r *Router) wantCost() int { return r.cfg.Fanout * questionCost }

// wantContacts asks for more contacts if ranges are without an answer, or, while no holder is found, have one answer
// only. It returns false if the query need not wait for them.
func (r *Router) wantContacts(q *search) bool {
	c := &q.cover
	if c.wanted {
		return true
	}
	if everybody(&c.once) && (q.found > 0 || everybody(&c.twice) || r.cfg.Limits.Denials < 2) || !r.mayWant(q) {
		return false
	}
	q.spent += r.wantCost()
	c.reserved += r.wantCost()
	c.wants++
	c.wanted, c.gained, c.since = true, false, r.now
	r.emit(event.ContactsWanted{Search: uint64(q.ID), Ask: r.cfg.Fanout})
	return true
}

// wantsLong returns the time from which second contacts are asked although more contacts are awaited. ok is false in
// All queries, which wait.
func (r *Router) wantsLong(q *search) (from time.Duration, ok bool) {
	return q.cover.since + contactPatience*r.cfg.HedgeAfter, q.Mode == wire.Any
}

// wantsUntil returns the time until which a query waits for more contacts.
func (r *Router) wantsUntil(q *search) time.Duration { return q.cover.since + r.cfg.AskTimeout }

// wantsNoLonger ends the wait for more contacts. If none have come, other peers know no more, or do not answer.
func (q *search) wantsNoLonger() {
	if q.cover.wanted = false; !q.cover.gained {
		q.cover.wants = mostWants
	}
}

// contactsNamed counts the inquiries that a query caused. Once an answer came, or nobody can be asked, it resumes all
// queries that wait for contacts: contacts named for one query serve all.
func (r *Router) contactsNamed(in event.ContactsNamed) {
	if q := r.open[QueryID(in.Search)]; q != nil {
		q.stats.Inquiries += in.Asked
		q.spent += min(in.Asked*questionCost, q.cover.reserved) - q.cover.reserved
		q.cover.reserved = 0
	}
	if in.Asked > 0 {
		return
	}
	all := r.view.Contacts()
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		q := r.open[id]
		if q == nil || !q.cover.wanted {
			continue
		}
		q.cover.learn(all)
		if uint64(id) == in.Search && in.Awaited == 0 {
			q.wantsNoLonger()
		}
		r.advance(q)
	}
}

// learn adds the given contacts, except those that the query has.
func (c *covering) learn(contacts []region.Contact) {
	known := make(map[string]bool, len(c.contacts))
	for i := range c.contacts {
		known[c.contacts[i].Peer] = true
	}
	for i := range contacts {
		if !known[contacts[i].Peer] {
			c.contacts, c.gained = append(c.contacts, contacts[i]), true
		}
	}
}

// usualDepth returns the median depth of the contacts, of which there is at least one.
func usualDepth(contacts []region.Contact) int {
	depths := make([]int, len(contacts))
	for i := range contacts {
		depths[i] = int(contacts[i].Depth)
	}
	slices.Sort(depths)
	return depths[len(depths)/2]
}

// expectedRange returns the range for which a contact, whose answer is awaited, is expected to answer.
func (q *search) expectedRange(v *referrer) space.Range {
	return space.Around(v.contact.Place, q.counted(int(v.contact.Depth), v.contact.Right))
}

// counted returns the depth for which a contact's answer counts, given its claimed depth and the number of times that
// it was right. An All query asks no second contact once a holder is found. So a range far wider than the usual one
// counts only as far as the contact's record makes it credible.
func (q *search) counted(depth int, right int32) int {
	if q.Mode != wire.All {
		return depth
	}
	return region.Credible(depth, right, q.cover.deep)
}

// answeredFor records that a contact has answered for its range. A range far wider than others is easily claimed, and
// its owner hears of changes late: its answer is never a second one, unless the contact is precise. The explanation
// keeps the range in any case.
func (q *search) answeredFor(a *referrer) {
	depth := max(a.depth, int(a.contact.Depth)) // no wider than it was asked for: a boast made after the question does not count
	if a.precise && depth < space.MaxDepth {    // else it had no time for the question
		depth = 0
	}
	rng := space.Around(a.contact.Place, q.counted(depth, a.contact.Right))
	reason := &q.stats.Explain[a.reason]
	reason.Range, reason.Ranged = rng, true
	if q.cover.once.Covers(rng) && (a.precise || depth > q.cover.deep-region.FarWider) {
		q.cover.twice.Add(rng)
	}
	q.cover.once.Add(rng)
}

// contactAnswered handles a contact's answer, apart from the names in it.
func (r *Router) contactAnswered(q *search, a *referrer, names wire.Answer) {
	a.heard, a.depth = true, min(max(names.Depth, 0), space.MaxDepth)
	for _, rec := range names.Records {
		a.names = append(a.names, rec.Peer)
	}
	if a.state == answered { // else it was given up at once
		q.answeredFor(a)
	}
	r.emit(event.ContactAnswered{Peer: a.peer, Depth: a.depth})
	if q.cover.poor {
		r.denied(q, space.Around(a.contact.Place, max(a.depth, int(a.contact.Depth))), a.names)
	}
	for i := range q.candidates {
		if p := &q.candidates[i]; p.state == answered {
			r.judge(q, a, p.record.Peer)
		}
	}
}

// judge reports to the overlay whether a contact named a peer that holds the key. The contact should have named the
// peer, if the peer lies in the range that the contact answered for.
func (r *Router) judge(q *search, a *referrer, holder wire.PeerID) {
	if !a.heard || a.judged || a.peer == holder || len(a.names) >= MaxNames(q.Mode) {
		return
	}
	switch named := slices.Contains(a.names, holder); {
	case named:
		r.emit(event.ContactAnswered{Peer: a.peer, Depth: a.depth, Proved: true})
	case space.Around(a.contact.Place, a.depth).Contains(holder.Place()):
		r.emit(event.ContactAnswered{Peer: a.peer, Depth: a.depth, Denied: true})
		a.denied = true
	default:
		return
	}
	a.judged = true
}
