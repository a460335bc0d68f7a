package routing

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// nameCost is how many messages a name in an answer counts as: it takes some 300 bytes, a message some 80.
const nameCost = 4

// request is the search of a peer that a query serves.
type request struct {
	number uint64 // the driver's name for the stream
	from   wire.PeerID
	passed []wire.PeerID // providers sent or about to be
	queue  []wire.Record // providers not yet sent
}

// asked serves a peer's request. A malformed or excessive one is answered empty at once.
func (r *Router) asked(in event.Asked) {
	r.lives(in.From)
	q, ok := in.Question.(wire.Query)
	ok = ok && len(q.Key) > 0 && len(q.Key) <= MaxKey && q.Mode <= wire.All
	r.demand.fade(r.now)
	ok = ok && !r.demand.over(in.From, r.cfg.ServedRate)
	r.demand.charge(in.From, 1)
	switch {
	case ok && q.Kind == wire.Candidates:
		names := r.candidatesFor(in.From, q)
		r.demand.charge(in.From, nameCost*len(names))
		r.emit(event.Answer{Request: in.Request, Answer: wire.Answer{Depth: r.view.Precise().Depth(), Records: names, Final: true}})
	case ok && q.Kind == wire.Search && r.admit(in.From, q):
		r.search(in, q)
	case q.Kind == wire.Candidates:
		r.emit(event.Answer{Request: in.Request, Answer: wire.Answer{Depth: space.MaxDepth, Final: true}}) // depth 0 would deny for everybody
	default:
		r.emit(event.Answer{Request: in.Request, Answer: wire.Answer{Final: true}})
	}
}

// candidatesFor names who may hold the key: this node if it does, then the matches of the directory, likeliest first.
// They bring at most [Config.Useless] false matches and fit [MaxNames].
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
		if blurred && v.Rate > sureRate && !sharp.Contains(placeOf(v.Peer)) {
			continue // its match would be one of many false ones
		}
		tie := match.Tie(uint64(f), string(v.Peer))
		entries = append(entries, match.Entry{Index: i, Probability: match.Posterior(prior, v.Rate) * trust, Cost: 1, Tie: tie})
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

// admit reports whether a search is taken on. It refuses repeats, searches whose time is over, and more than there are
// places for. The last places are for keys in demand: a peer that asks for ever other keys cannot take all. Refused
// searches make no demand.
func (r *Router) admit(from wire.PeerID, q wire.Query) bool {
	name := r.nameOf(from, q)
	if q.Origin == r.cfg.Self || q.Within <= 0 || r.serving[from] >= r.cfg.MaxServedPerPeer || r.seen.Has(name) {
		return false
	}
	places := r.cfg.MaxServed
	if !r.demand.asked(r.cfg.Fingerprint(q.Key)) {
		places -= places / forDemand
	}
	if len(r.open)-r.own >= places {
		return false
	}
	r.seen.Add(name)
	return true
}

// nameOf returns the name by which a search is remembered, to recognise a repeat. The sender is part of it, which no
// other peer can choose. So no peer can use up the name of another's query before that query comes.
func (r *Router) nameOf(from wire.PeerID, q wire.Query) sighting {
	return sighting{from, q.Origin, q.Nonce}
}

// search opens a query on a peer's behalf, within its budget and ours.
func (r *Router) search(in event.Asked, q wire.Query) {
	id := MaxQueryID + r.requests
	r.requests++
	r.serving[in.From]++
	s := &search{
		Query: Query{
			ID: id, Key: slices.Clone(q.Key), Mode: q.Mode, Want: max(q.Want, 1),
			Budget:   min(max(q.Budget, 0), r.cfg.MaxServedBudget),
			Deadline: r.now + min(q.Within, r.cfg.Timeout), Fresh: q.Fresh,
		},
		origin: q.Origin, nonce: q.Nonce, hops: min(q.Hops, r.cfg.Hops-1), visited: r.latest(q.Visited),
		serves: &request{number: in.Request, from: in.From},
	}
	if r.cfg.Has(q.Key) {
		s.found++
		r.pass(s, r.self())
	}
	r.launch(s)
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
	if q.enough() || q.spent+1+confirmCost > q.Budget {
		return
	}
	q.spent++
	r.emit(event.Answer{Request: s.number, Answer: wire.Answer{Records: s.queue, Messages: q.spent}})
	s.queue = nil
}

// passOn handles a holder that a child found. If the directory would name it too, it is sent on, and the origin
// confirms it. Otherwise it is confirmed here first. So a child that invents holders is found out by the peer that
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
	r.returned(q, c, unsure)
}

// nameUnasked adds to the last answer the matches that the budget was too small to ask. They are as likely as a
// confirmed provider is taken to be, because the asker cannot tell the two apart. Each counts as a name against the
// rate of the asker.
func (r *Router) nameUnasked(q *search) {
	for _, i := range q.order {
		c := &q.candidates[i]
		if c.state != waiting || !c.matched || c.standing != sound || c.p < confirmedElsewhere {
			continue
		}
		before := len(q.serves.passed)
		r.pass(q, c.record)
		r.demand.charge(q.serves.from, nameCost*(len(q.serves.passed)-before))
	}
}

// finishServing sends the last answer.
func (r *Router) finishServing(q *search) {
	s := q.serves
	if r.serving[s.from]--; r.serving[s.from] == 0 {
		delete(r.serving, s.from)
	}
	r.demand.charge(s.from, q.spent)
	r.emit(event.Answer{Request: s.number, Answer: wire.Answer{Records: s.queue, Messages: q.spent, AsOf: q.age(r.now), Final: true}})
}
