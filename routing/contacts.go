package routing

import (
	"maps"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/routing/defence"
	"github.com/venn-p2p/venn/routing/match"
)

// Where a directory covers a part of the network, a search covers the rest by contacts: peers that each know a range of
// it. What they name is confirmed. The widest ranges come first, and an Any query asks few contacts at a time. When each
// range was asked once and nobody was found, a second contact speaks for each: one alone may lie. Where a directory
// covers all, but knows too little of it, contacts are those who know it better.

const (
	// contactsAtOnce is how many contacts an Any query asks at a time, to begin with.
	contactsAtOnce = 2
	// After each oneMoreEach contacts asked, one more is asked at a time: a long search is wider, and ends in time.
	oneMoreEach = 8
	// contactPatience is how many times as long a contact may take as a confirmation: mostly a connection is made first.
	contactPatience = 2
	// wantPatience is how many times as long those who are asked for more contacts may take: a second contact that is
	// asked too soon is asked in vain.
	wantPatience = 4
	// wantAsk is how many peers are asked at a time for more contacts, mostWants how often a query may want more.
	wantAsk   = 4
	wantCost  = wantAsk * askCost
	mostWants = 4
	// mostAlike is how many peers like us are asked for being so. If each of us knows half of our like, one in thirty is
	// unknown to us and to four others. Who has a summary like ours made up is asked no more often, either.
	mostAlike = 4
	// contactMatches is how many false matches are expected among the names that a contact gives.
	contactMatches = 1
)

// need is what a query asks contacts about.
type need uint8

const (
	ranges    need = iota // those that the directory does not cover
	sharpness             // all, which linked peers know more sharply (see sharper.go)
	focus                 // all, of which others know a range each sharply (see blurred.go)
)

// covering is how far a query has got with what it asks contacts about.
type covering struct {
	need     need
	begun    bool
	over     bool // nobody is left to ask, and nobody under way
	contacts []coverage.Contact
	matches  []float64    // false matches that each expects; nil: contactMatches
	deep     int          // depth of the range of most of them
	own      coverage.Set // what the own directory answers for
	once     coverage.Set // what somebody has answered for, our own directory included
	chosen   coverage.Set // the same, but for the word of peers like us
	twice    coverage.Set // what two of these have answered for

	wants    int           // how often more contacts were wanted
	wanted   bool          // they are waited for
	gained   bool          // and some have come
	since    time.Duration // they were last wanted
	reserved int           // messages set aside for asking, until it is known how many were asked
}

// begin has a query ask about all but what the own directory answers for.
func (c *covering) begin(own coverage.Set) {
	c.over = false
	c.own, c.once, c.chosen, c.twice = own, own.Clone(), own.Clone(), own.Clone()
}

// setOf is all places of a range.
func setOf(r coverage.Range) (s coverage.Set) {
	s.Add(r)
	return s
}

// recount adds up again what was answered for, without those that were given up since.
func (q *flight) recount() {
	q.cover.begin(q.cover.own)
	for i := range q.asks {
		if a := &q.asks[i]; a.state == answered && a.heard {
			q.answeredFor(a)
		}
	}
}

// cover begins to ask contacts; false when there are none, or they were asked before.
func (r *Router) cover(q *flight) bool {
	if q.cover.begun || q.serves != nil && q.cover.need != sharpness {
		return false
	}
	q.cover.begun = true
	if q.cover.need == ranges {
		if q.cover.contacts = r.view.Contacts(); len(q.cover.contacts) > 0 {
			q.Budget += q.forContacts
			q.cover.deep = usualDepth(q.cover.contacts)
		}
	}
	r.askContacts(q)
	return len(q.asks) > 0 || q.cover.need != ranges
}

// askContacts asks as many contacts as may be asked now.
func (r *Router) askContacts(q *flight) {
	if !q.cover.begun || len(q.cover.contacts) == 0 || q.Mode == Any && r.hopeful(q) {
		return
	}
	under := 0
	for i := range q.asks {
		if a := &q.asks[i]; a.state == asking && !r.overdue(q, a) {
			under++
		}
	}
	width := r.cfg.Parallel
	switch {
	case q.Mode == Any && q.cover.need != ranges:
		width = 1 // there are few ranges, and the likeliest comes first
	case q.Mode == Any:
		width = contactsAtOnce + len(q.asks)/oneMoreEach
	}
	for ; under < width; under++ {
		i := r.nextContact(q)
		if i < 0 && under == 0 && r.wantContacts(q) {
			return
		}
		if i < 0 || !q.afford(askCost) {
			q.cover.over = under == 0
			return
		}
		c := q.cover.contacts[i]
		p, matches := overlay.PeerID(c.Peer), float64(contactMatches)
		if q.cover.matches != nil {
			matches = q.cover.matches[i]
		}
		reason := q.explain(r.now, Reason{Peer: p, Why: Contact})
		q.asks = append(q.asks, ask{
			peer: p, contact: c, falseMatches: matches, voice: r.newVoice(q, p), state: asking, since: r.now, reason: reason,
			suspect: r.standing(p) >= suspect,
		})
		q.spoken(p, true)
		r.emit(AskCandidates{ID: q.ID, To: p, Envelope: c.Record, Key: q.Key, Fingerprint: q.Fingerprint, Mode: q.Mode})
	}
}

// askTime is how long a contact's answer is waited for. It is short if the contact failed to answer of late.
func (r *Router) askTime(a *ask) time.Duration {
	if a.suspect {
		return grace
	}
	return r.cfg.AskTimeout
}

// impatient says from when on others are asked beside a contact that has not answered, in its range too; ok is false when
// its answer is waited for.
func (r *Router) impatient(q *flight, a *ask) (from time.Duration, ok bool) {
	return a.since + contactPatience*r.cfg.HedgeAfter, q.Mode == Any
}

// overdue says whether others are asked by now beside a contact that has not answered.
func (r *Router) overdue(q *flight, a *ask) bool {
	from, ok := r.impatient(q, a)
	return ok && r.now >= from
}

// nextContact is the contact to ask next, -1 for nobody. It is for ranges that nobody has answered for and then, while
// nobody is found, for those that one alone has. No second contact is asked while a first one may still answer in time,
// or a peer that it named, unless that name is in doubt. Those of several ranges are asked side by side. An Any query
// asks a few peers like us before others that cover no more, but none that did badly of late.
func (r *Router) nextContact(q *flight) int {
	if q.cover.need == sharpness && r.sharpEnough(q) {
		return -1
	}
	alike, waits := 0, r.hopeful(q)
	first, second := q.cover.once.Clone(), q.cover.twice.Clone()
	for i := range q.asks {
		a := &q.asks[i]
		if a.contact.Role == coverage.Alike {
			alike++
		}
		if a.state != asking || r.overdue(q, a) {
			continue
		}
		if rng := q.hopedOf(a); first.Covers(rng) {
			second.Add(rng)
		} else {
			first.Add(rng)
			waits = true
		}
	}
	unfit := func(i int) bool {
		p := overlay.PeerID(q.cover.contacts[i].Peer)
		return q.excluded(r.cfg.Self, p) || q.askOf(p) != nil || r.standing(p) == resting || q.cover.need == focus && r.doubt(p) > 0
	}
	key := match.Tie(uint64(q.Fingerprint)^r.salt, "")
	was := func(i int) bool { return q.cover.contacts[i].Role == coverage.Alike || unfit(i) }
	known := func(i int) bool {
		return was(i) || q.cover.need == focus && first.Contains(q.cover.contacts[i].Place)
	}
	i := coverage.Next(q.cover.contacts, &first, known, r.worthOf(q), key)
	if q.Mode == Any && alike < mostAlike {
		other := func(i int) bool {
			c := &q.cover.contacts[i]
			return c.Role != coverage.Alike || unfit(i) || r.doubt(overlay.PeerID(c.Peer)) > 0
		}
		a := coverage.Next(q.cover.contacts, &first, other, nil, key)
		if a >= 0 && (i < 0 || q.cover.contacts[i].Depth > q.cover.contacts[a].Depth-coverage.FarWider) {
			return a
		}
	}
	if i >= 0 || waits || q.found > 0 || q.cover.need == sharpness || r.cfg.Undefended.Has(defence.Second) {
		return i
	}
	if from, ok := r.wantsLong(q); q.cover.wanted && (!ok || r.now < from) {
		return -1
	}
	if !q.cover.wanted && !everybody(&first) && r.mayWant(q) {
		return -1
	}
	return coverage.Next(q.cover.contacts, &second, was, nil, key)
}

// everybody says whether a set is the whole network.
func everybody(s *coverage.Set) bool { return s.Covers(coverage.Range{}) }

// mayWant says whether a query may still want more contacts.
func (r *Router) mayWant(q *flight) bool {
	return q.cover.need == ranges && q.cover.wants < mostWants && q.spent+wantCost <= q.Budget && r.now < q.Deadline
}

// wantContacts asks for more contacts, if there are ranges that nobody has answered for or, while nobody is found, one
// alone has. It is false if they are not to be waited for.
func (r *Router) wantContacts(q *flight) bool {
	c := &q.cover
	if c.wanted {
		return true
	}
	if everybody(&c.once) && (q.found > 0 || everybody(&c.twice) || r.cfg.Undefended.Has(defence.Second)) || !r.mayWant(q) {
		return false
	}
	q.spent += wantCost
	c.reserved += wantCost
	c.wants++
	c.wanted, c.gained, c.since = true, false, r.now
	r.emit(WantContacts{ID: q.ID, Ask: wantAsk})
	return true
}

// wantsLong says from when on second contacts are asked beside the peers that were asked for more; ok is false when
// these are waited for.
func (r *Router) wantsLong(q *flight) (from time.Duration, ok bool) {
	return q.cover.since + wantPatience*r.cfg.HedgeAfter, q.Mode == Any
}

// wantsUntil is how long a query waits for more contacts.
func (r *Router) wantsUntil(q *flight) time.Duration { return q.cover.since + r.cfg.AskTimeout }

// wantsNoLonger ends the wait for more contacts. If none have come, others know no more, or do not say.
func (q *flight) wantsNoLonger() {
	if q.cover.wanted = false; !q.cover.gained {
		q.cover.wants = mostWants
	}
}

// contactsNamed goes on with the queries that want contacts. What is named for one serves all.
func (r *Router) contactsNamed(in ContactsNamed) {
	if q := r.open[in.ID]; q != nil {
		q.stats.Inquiries += in.Asked
		q.spent += min(in.Asked*askCost, q.cover.reserved) - q.cover.reserved
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
		if id == in.ID && in.Awaited == 0 {
			q.wantsNoLonger()
		}
		r.advance(q)
	}
}

// learn adds those of some contacts that are not known yet. One known as a peer like us alone is not known as a contact
// of its range.
func (c *covering) learn(contacts []coverage.Contact) {
	known := make(map[string]bool, len(c.contacts))
	for i := range c.contacts {
		known[c.contacts[i].Peer] = known[c.contacts[i].Peer] || c.contacts[i].Role != coverage.Alike
	}
	for i := range contacts {
		if contacts[i].Role != coverage.Alike && !known[contacts[i].Peer] {
			c.contacts, c.gained = append(c.contacts, contacts[i]), true
		}
	}
}

// usualDepth is the median of the depths of contacts, of which there are some.
func usualDepth(contacts []coverage.Contact) int {
	depths := make([]int, len(contacts))
	for i := range contacts {
		depths[i] = int(contacts[i].Depth)
	}
	slices.Sort(depths)
	return depths[len(depths)/2]
}

// hopedOf is the range that a contact under way is expected to answer for.
func (q *flight) hopedOf(a *ask) coverage.Range {
	return coverage.Around(a.contact.Place, q.counted(int(a.contact.Depth), a.contact.Right))
}

// counted is the depth of the range that a word counts for, of a peer that claims one and was right some times. With
// All no second one is asked once somebody is found. So a range that is far wider than others counts only as far as it
// is credible.
func (q *flight) counted(depth int, right int32) int {
	if q.Mode != All {
		return depth
	}
	return coverage.Credible(depth, right, q.cover.deep)
}

// answeredFor notes that a contact has answered for the range of a depth around its place. A range far wider than others
// is easily claimed, and who covers it hears of changes later than the peers of each part. So its word counts once: it
// is not the second one. The word of a peer like us is neither of the two: who makes up a summary like ours would else
// need but one more liar to hide a range. The explanation keeps the range.
func (q *flight) answeredFor(a *ask) {
	depth := max(a.depth, int(a.contact.Depth)) // no more than it was asked for: a late boast is not believed
	rng := coverage.Around(a.contact.Place, q.counted(depth, a.contact.Right))
	reason := &q.stats.Explain[a.reason]
	reason.Range, reason.Ranged = rng, true
	q.cover.once.Add(rng)
	if a.contact.Role == coverage.Alike {
		return
	}
	if q.cover.chosen.Covers(rng) && depth > q.cover.deep-coverage.FarWider {
		q.cover.twice.Add(rng)
	}
	q.cover.chosen.Add(rng)
}

// contactAnswered takes in what a contact's answer says besides names.
func (r *Router) contactAnswered(q *flight, a *ask, in CandidatesReceived) {
	a.heard, a.depth = true, min(max(in.Depth, 0), coverage.MaxDepth)
	for _, rec := range in.Records {
		a.names = append(a.names, rec.Peer)
	}
	if a.state == answered { // else it was given up at once
		q.answeredFor(a)
	}
	r.emit(ContactOutcome{Peer: a.peer, Depth: a.depth})
	if q.cover.need == focus {
		r.denied(q, coverage.Around(a.contact.Place, max(a.depth, int(a.contact.Depth))), a.names)
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
	if !a.heard || a.judged || a.peer == holder || len(a.names) >= MaxNames(q.Mode) {
		return
	}
	switch named := slices.Contains(a.names, holder); {
	case named:
		r.emit(ContactOutcome{Peer: a.peer, Depth: a.depth, Proved: true})
	case coverage.Around(a.contact.Place, a.depth).Contains(placeOf(holder)):
		r.emit(ContactOutcome{Peer: a.peer, Depth: a.depth, Denied: true})
		a.denied = true
	default:
		return
	}
	a.judged = true
}

// placeOf is the place of a peer.
func placeOf(p overlay.PeerID) coverage.Place { return coverage.Place(group.OriginTag(string(p))) }
