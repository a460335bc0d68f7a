package routing

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

const (
	// messageWork is the work that a message sent for another peer counts as. All others together may cause some 500
	// messages a second.
	messageWork = time.Millisecond
	// nameWork is the work that a name in an answer counts as: it takes some 300 bytes, a message some 80.
	nameWork = 4 * messageWork
)

// newGate returns a gate for the requests of others. It limits messages and open searches; work is [Limits.Work].
func newGate(work float64) *admission.Gate {
	return admission.New(work/2, int(work*160))
}

// request is the search of a peer that a query serves.
type request struct {
	number uint64 // the driver's name for the stream
	from   wire.PeerID
	who    admission.Principal // that peer as a principal
	slot   *admission.Slot
	ousted bool          // the place went to another search
	passed []wire.PeerID // providers sent or about to be
	queue  []wire.Record // providers not yet sent
}

// owner returns the principal for which a query is made; the zero value for the caller's own.
func (q *search) owner() admission.Principal {
	if q.serves == nil {
		return admission.Principal{}
	}
	return q.serves.who
}

// asked serves a peer's request. A malformed request is answered empty at once. An excessive one is refused, for an
// empty answer would say that nobody holds the key.
func (r *Router) asked(in event.Asked) {
	r.lives(in.From)
	q, ok := in.Question.(wire.Query)
	who := in.Who(slices.Contains(r.view.Linked(), in.From))
	ok = ok && len(q.Key) > 0 && len(q.Key) <= MaxKey && q.Mode <= wire.All
	a := event.Answer{Request: in.Request}
	switch {
	case ok && !r.gate.Admit(r.now, who, messageWork):
	case !ok && q.Kind == wire.Candidates:
		a.Answer = wire.Answer{Final: true, Depth: space.MaxDepth} // depth 0 would deny that any peer holds the key
	case q.Kind == wire.Candidates:
		if names := r.candidatesFor(in.From, q); r.gate.Admit(r.now, who, nameWork*time.Duration(len(names))) {
			a.Answer = wire.Answer{Final: true, Records: names, Depth: r.view.Precise().Depth()}
		}
	case ok && q.Kind == wire.Search && r.mayOpen(in.From, q):
		if r.search(in, q, who) {
			return
		}
	default:
		a.Answer = wire.Answer{Final: true}
	}
	r.emit(a)
}

// candidatesFor names peers that may hold the key: this node if it does, then the matches of the directory, likeliest
// first. It returns at most [MaxNames], and expects at most [Config.Useless] false matches among them.
func (r *Router) candidatesFor(from wire.PeerID, q wire.Query) []wire.Record {
	var out []wire.Record
	if r.cfg.Has(q.Key) {
		out = append(out, r.self())
	}
	found, rates := r.likely(from, q.Key)
	n := match.Cut(rates, r.cfg.Useless, MaxNames(q.Mode)-len(out))
	return append(out, found[:n]...)
}

// likely returns the trusted matches of the directory for a key that a peer asks about, likeliest first, with their
// false-positive rates.
func (r *Router) likely(from wire.PeerID, key []byte) (records []wire.Record, rates []float64) {
	f := r.cfg.Fingerprint(key)
	prior, sharp, blurred := r.prior.Share(), r.view.Precise(), r.view.FalseMatches() > r.cfg.Useless
	all := r.view.Candidates(key, f)
	entries := make([]match.Entry, 0, len(all))
	for i, v := range all {
		trust := r.trust(v)
		if v.Peer == from || v.Peer == r.cfg.Self || trust < match.MinTrust {
			continue
		}
		likely := match.Posterior(prior, v.Rate)
		if blurred && likely < match.EvenOdds && !sharp.Contains(v.Peer.Place()) {
			continue // its match would be one of many false ones
		}
		tie := match.Tie(uint64(f), string(v.Peer))
		entries = append(entries, match.Entry{Index: i, Probability: likely * trust, Cost: 1, Tie: tie})
	}
	match.Rank(entries)
	for _, e := range entries {
		v := all[e.Index]
		v.Record.Peer = v.Peer
		records, rates = append(records, v.Record), append(rates, v.Rate)
	}
	return records, rates
}

// self returns this node's record; without an envelope when the view has none.
func (r *Router) self() wire.Record {
	if rec, ok := r.view.Record(r.cfg.Self); ok {
		rec.Peer = r.cfg.Self
		return rec
	}
	return wire.Record{Peer: r.cfg.Self}
}

// nameOf returns the name by which a search is remembered, to recognise a repeat. It includes the sender, which no
// other peer can choose. So no peer can use up the name of another's query before that query comes.
func (r *Router) nameOf(from wire.PeerID, q wire.Query) sighting {
	return sighting{from, q.Origin, q.Nonce}
}

// mayOpen returns false for a repeat of a search, and for one whose time is over.
func (r *Router) mayOpen(from wire.PeerID, q wire.Query) bool {
	return q.Origin != r.cfg.Self && q.Within > 0 && !r.seen.Has(r.nameOf(from, q))
}

// search opens a query on a peer's behalf, within its budget and ours. It returns false, and does nothing, if there is
// no place for it. A search that loses its place ends with the holders found, or is refused if there are none.
func (r *Router) search(in event.Asked, q wire.Query, who admission.Principal) bool {
	var s *search
	slot := r.gate.Take(who, func() {
		s.serves.ousted = true
		r.end(s, OutOfTime)
	})
	if slot == nil {
		return false
	}
	r.seen.Add(r.nameOf(in.From, q))
	s = &search{
		Query: Query{
			ID: MaxQueryID + r.requests, Key: slices.Clone(q.Key), Mode: q.Mode, Want: max(q.Want, 1),
			Budget:   min(max(q.Budget, 0), r.cfg.MaxServedBudget),
			Deadline: r.now + min(q.Within, r.cfg.Timeout), Fresh: q.Fresh,
		},
		origin: q.Origin, nonce: q.Nonce, hops: min(q.Hops, r.cfg.Hops-1), visited: r.latest(q.Visited),
		serves: &request{number: in.Request, from: in.From, who: who, slot: slot},
	}
	r.requests++
	if r.cfg.Has(q.Key) {
		s.found++
		r.pass(s, r.self())
	}
	r.launch(s)
	return true
}

// pass sends a provider to the peer that asked: at once, or with the last answer. It waits for the last answer when
// this provider satisfies the query, or when the budget lacks the messages for another answer and a confirmation.
func (r *Router) pass(q *search, rec wire.Record) {
	s := q.serves
	if slices.Contains(s.passed, rec.Peer) || len(s.passed) >= MaxNames(q.Mode) {
		return
	}
	s.passed = append(s.passed, rec.Peer)
	s.queue = append(s.queue, rec)
	if q.enough() || q.spent+1+questionCost > q.Budget {
		return
	}
	q.spent++
	r.emit(event.Answer{Request: s.number, Answer: wire.Answer{Records: s.queue, Messages: q.spent}})
	s.queue = nil
}

// passOn handles holders that a child found. A holder that matches in the directory, too, is sent on, and the origin
// confirms it. Any other holder is confirmed here first. So a child that invents holders is found out by the peer that
// asked it, and no other peer asks for them.
func (r *Router) passOn(q *search, c *referrer, records []wire.Record) {
	var unsure []wire.Record
	for _, rec := range q.fewNames(c, records) {
		if q.excluded(r.cfg.Self, rec.Peer) {
			continue
		}
		i, ok := q.index[rec.Peer]
		believed := len(q.serves.passed) < r.cfg.Limits.Believed
		if (!ok || !q.candidates[i].matched) && !believed {
			unsure = append(unsure, rec)
			continue
		}
		if ok && q.candidates[i].state == waiting {
			q.candidates[i].state = passed
		}
		if believed {
			q.found++
		}
		r.pass(q, rec)
	}
	r.named(q, c, Returned, unsure)
}

// nameUnasked adds to the last answer the matches that the budget was too small to ask. They are as likely as a
// confirmed provider is assumed to be, because the asker cannot tell the two apart. Each counts as a name.
func (r *Router) nameUnasked(q *search) {
	for _, i := range q.order {
		c := &q.candidates[i]
		if c.state != waiting || !c.matched || c.standing != sound || c.p < overlay.SureMatch {
			continue
		}
		before := len(q.serves.passed)
		r.pass(q, c.record)
		r.gate.Charge(r.now, q.serves.who, nameWork*time.Duration(len(q.serves.passed)-before))
	}
}

// finishServing sends the last answer, or a refusal.
func (r *Router) finishServing(q *search) {
	s := q.serves
	s.slot.Release()
	r.gate.Charge(r.now, s.who, messageWork*time.Duration(q.spent))
	a := event.Answer{Request: s.number}
	if !s.ousted || len(s.passed) > 0 {
		a.Answer = wire.Answer{Records: s.queue, Messages: q.spent, AsOf: q.age(r.now), Final: true}
	}
	r.emit(a)
}
