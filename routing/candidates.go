package routing

import (
	"cmp"
	"slices"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

const (
	// MaxCandidates caps the candidates of one query. If its budget is enough to confirm more, that number is the cap.
	// Matches of the own directory take at most half, the likeliest first; further names are ignored.
	MaxCandidates = bound.Many
	// MaxNamesAny and MaxNamesAll are the most names in an answer to a question for candidates, the likeliest first.
	// The rest of a longer answer is not read.
	MaxNamesAny = wire.MaxAnswerRecords
	MaxNamesAll = 256
)

// MaxNames returns the largest number of names in an answer to a query of a mode.
func MaxNames(m wire.Mode) int {
	if m == wire.All {
		return MaxNamesAll
	}
	return MaxNamesAny
}

// room returns the largest number of candidates of a query.
func (q *search) room() int { return max(MaxCandidates, q.Budget/questionCost) }

// matched makes candidates of the directory's matches.
func (r *Router) matched(q *search) {
	prior := r.prior.Share()
	for _, v := range r.view.Candidates(q.Key, q.fingerprint) {
		if _, dup := q.index[v.Peer]; dup || q.excluded(r.cfg.Self, v.Peer) {
			continue
		}
		c := r.known(v, q)
		c.likely = match.Posterior(prior, v.Rate)
		c.p = c.likely * c.trust
		q.index[v.Peer] = len(q.candidates)
		q.candidates = append(q.candidates, c)
	}
	q.size(prior)
	if n := q.room() / 2; len(q.candidates) > n {
		q.keepLikeliest(n)
	}
	r.rank(q)
}

// size corrects the probability of a match by the size of its collection. The size matters most where the
// false-positive rate tells little. Small collections reach low rates first, so the best of many matches are mostly
// small ones, which hold few of the wanted keys.
func (q *search) size(prior float64) {
	keys := 0.0
	for i := range q.candidates {
		keys += float64(q.candidates[i].keys)
	}
	mean := keys / float64(max(len(q.candidates), 1))
	for i := range q.candidates {
		c := &q.candidates[i]
		if c.sized = c.likely; c.keys > 0 {
			c.sized = match.Posterior(match.Sized(prior, c.keys, mean), c.rate)
		}
	}
}

// sure reports whether a match is at least as likely true as not, both before and after the correction by the size of
// its collection, which is easily claimed. With a poor directory, a query asks these matches first: a false one costs
// as much as a true one saves, one question for names.
func (c *candidate) sure() bool { return min(c.likely, c.sized) >= match.EvenOdds }

func (r *Router) known(v overlay.Candidate, q *search) candidate {
	v.Record.Peer = v.Peer
	return r.rested(candidate{
		record: v.Record, why: Matched, matched: true, keys: v.N, rate: v.Rate, hits: v.Hits, trust: r.trust(v),
		cost: match.Cost(v.RTT, v.Connected, r.load[v.Peer]), tie: match.Tie(uint64(q.fingerprint), string(v.Peer)), namedBy: -1,
	})
}

// trust returns the factor by which a peer's record lowers the belief in its claims.
func (r *Router) trust(v overlay.Candidate) float64 {
	return max(r.cfg.Limits.Trust, match.Trust(v.Hits, v.Misses))
}

// rested sets a candidate's standing by the failures of its peer. A resting peer is not asked.
func (r *Router) rested(c candidate) candidate {
	if c.standing = r.standing(c.record.Peer); c.standing == resting {
		c.state = shunned
	}
	return c
}

// keepLikeliest drops all candidates but the n likeliest.
func (q *search) keepLikeliest(n int) {
	slices.SortFunc(q.candidates, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.tie, b.tie)) })
	q.candidates = slices.Clone(q.candidates[:n])
	clear(q.index)
	for i := range q.candidates {
		q.index[q.candidates[i].record.Peer] = i
	}
}

// rank sorts the waiting candidates into the order of asking. Names in doubt come after all others, and peers that have
// failed to answer after those.
func (r *Router) rank(q *search) {
	entries := make([]match.Entry, 0, len(q.candidates))
	for i, c := range q.candidates {
		if c.state == waiting {
			last := 0
			if r.inDoubt(q, &c) {
				last = 1
			}
			if c.standing != sound {
				last += 2
			}
			entries = append(entries, match.Entry{Index: i, Probability: c.p, Cost: c.cost, Last: last, Tie: c.tie})
		}
	}
	match.Rank(entries)
	q.order = q.order[:0]
	for _, e := range entries {
		q.order = append(q.order, e.Index)
	}
}

// named makes candidates of the names that a contact gave, or a child found. Each counts once it has confirmed the key
// itself.
func (r *Router) named(q *search, v *referrer, why Why, records []wire.Record) {
	for _, rec := range records {
		c := r.learn(q, rec)
		if c == nil || c.namedBy >= 0 && !q.referrers[c.namedBy].givenUp {
			continue
		}
		c.namedBy = v.index
		if c.state == waiting && !c.matched && r.rests(rec.Peer) {
			c.state = shunned
		}
		switch c.state {
		case shunned, failed:
			r.silentName(q, c)
		case answered:
			q.credit(v.index, rec.Peer)
		case waiting, passed: // passed: its new referrer is in better standing than the one that was given up
			c.state, c.why, c.p = waiting, why, max(c.p, overlay.SureMatch*c.trust)
		}
	}
	r.rank(q)
}

// fewNames returns the first names of a referrer, at most MaxNames in all. An Any query takes from a child only as
// many as it wants, and some more in case a few prove wrong.
func (q *search) fewNames(v *referrer, records []wire.Record) []wire.Record {
	n := MaxNames(q.Mode)
	if v.child && q.Mode == wire.Any {
		n = min(n, q.Want+wrongNames)
	}
	records = records[:min(len(records), max(0, n-v.given))]
	v.given += len(records)
	return records
}

// learn finds or makes the candidate for a record that another peer sent. It prefers the directory's own record. It
// returns nil for a peer that must not be asked, and if there is no room for it.
func (r *Router) learn(q *search, rec wire.Record) *candidate {
	if i, ok := q.index[rec.Peer]; ok {
		return &q.candidates[i]
	}
	if q.excluded(r.cfg.Self, rec.Peer) || len(q.candidates) >= q.room() {
		return nil
	}
	c := r.rested(candidate{
		record: rec, why: Named, rate: 1, trust: 1, cost: match.Cost(0, false, r.load[rec.Peer]),
		tie: match.Tie(uint64(q.fingerprint), string(rec.Peer)), namedBy: -1,
	})
	if own, ok := r.view.Record(rec.Peer); ok && len(own.Envelope) > 0 {
		c.record = own
	}
	if a := q.contactOf(rec.Peer); a != nil && a.state == asking {
		c.spoken = true
	}
	q.index[rec.Peer] = len(q.candidates)
	q.candidates = append(q.candidates, c)
	return &q.candidates[len(q.candidates)-1]
}

// wrongName counts a wrong name against the referrer that gave it: a peer that lacks the key or cannot be reached. When
// the first few names were all wrong, the referrer's other names are given up.
func (r *Router) wrongName(q *search, c *candidate) {
	if c.namedBy < 0 {
		return
	}
	v := &q.referrers[c.namedBy]
	v.misses++
	if v.misses < wrongNames || v.hits > 0 || v.givenUp {
		return
	}
	r.giveUp(q, c.namedBy)
}

// silentName counts an unanswered name against the contact that gave it. If no name of the contact answers, its
// answer is worth nothing, and another contact is asked.
func (r *Router) silentName(q *search, c *candidate) {
	if c.namedBy < 0 {
		return
	}
	v := &q.referrers[c.namedBy]
	if v.silent++; v.allSilent(r.cfg.Limits.Silent) && v.hits == 0 && !v.givenUp {
		r.giveUp(q, c.namedBy)
	}
}

// giveUp drops the names of a referrer. A contact counts as failed, and the range that it answered for as uncovered.
func (r *Router) giveUp(q *search, referrer int) {
	v := &q.referrers[referrer]
	if v.givenUp = true; !v.child {
		v.state = failed
		reason := &q.stats.Explain[v.reason]
		reason.Range, reason.Ranged = space.Range{}, false
		q.recount()
	}
	r.dropNames(q, referrer)
}

// dropNames gives up the names of one referrer. A name that matches in the directory counts as a match again. An All
// query, which would ask every name, drops the others. In an Any query they are in doubt: one may still be right.
func (r *Router) dropNames(q *search, referrer int) {
	for i := range q.candidates {
		c := &q.candidates[i]
		switch {
		case c.namedBy != referrer || c.why != Named && c.why != Returned || c.state != waiting:
		case c.matched:
			c.why, c.namedBy, c.p = Matched, -1, c.likely*c.trust
		case q.Mode == wire.All:
			c.state = passed
		}
	}
	r.rank(q)
}
