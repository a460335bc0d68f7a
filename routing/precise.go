package routing

import (
	"cmp"
	"slices"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// A directory is poor if it knows too little of many summaries to tell who holds a key. A query then uses the matches
// that the directory is sure of, and those of its precise range. About all else it asks contacts. Linked peers that
// know all more precisely come first, as contacts of depth 0. Where no line carries much of everybody's summary, no
// peer knows all precisely, but each knows one range well, around its own place; a peer of every other range is asked.
//
// A summary has no false negatives within its epoch, and a peer that knows a range well has mostly heard of the latest
// epoch. So a match here that the asked peer does not name is skipped (All) or asked last (Any). A peer that is named but
// does not match here is asked: the prefix held here is mostly of an earlier epoch.

// clearlyBetter is the greatest Σf that a more precise peer may have, as a part of ours.
const clearlyBetter = bound.Half

// seekPrecise makes a query ask peers that know the network, or a range of it, more precisely. It returns false if there
// are none.
func (r *Router) seekPrecise(q *search) bool {
	if r.settled(q) || len(r.view.Contacts()) > 0 {
		return false
	}
	q.cover.contacts = nil // clears contacts of ranges, if the directory was not for everybody when the query began
	for _, v := range r.morePrecise(q) {
		q.cover.contacts = append(q.cover.contacts, region.Contact{Peer: string(v.Peer), Place: v.Peer.Place()})
		q.cover.matches = append(q.cover.matches, v.FalseMatches)
	}
	if q.serves == nil {
		q.cover.contacts = append(q.cover.contacts, r.view.Peers()...)
	}
	if len(q.cover.contacts) == 0 {
		return false
	}
	q.cover.poor, q.cover.deep = true, usualDepth(q.cover.contacts)
	var own space.Set // a peer that knows all more precisely is asked about our range, too
	if len(q.cover.matches) == 0 {
		own.Add(r.view.Precise())
	}
	q.cover.begin(own)
	for i := range q.candidates {
		c := &q.candidates[i]
		c.precise = own.Contains(c.record.Peer.Place())
	}
	return true
}

// askPrecise makes an Any query that asked no contact ask more precise peers: the names that it had did not help,
// whatever this node's Σf is.
func (r *Router) askPrecise(q *search) bool {
	return !q.cover.poor && q.Mode == wire.Any && q.found == 0 && q.contactsAsked() == 0 && r.seekPrecise(q)
}

// morePrecise returns the linked peers that expect clearly fewer false matches than this node, the fewest first. Peers
// that named holders before come first, peers in doubt last. The others must claim to know at least nine tenths of the
// peers that others claim to know. The probability that a peer holds the key itself improves its place: it confirms by
// naming itself.
func (r *Router) morePrecise(q *search) []overlay.Knowledge {
	all := slices.DeleteFunc(r.view.Knowledge(), func(v overlay.Knowledge) bool { return q.excluded(r.cfg.Self, v.Peer) })
	most := r.mostOrigins(all)
	all = slices.DeleteFunc(all, func(v overlay.Knowledge) bool {
		return v.FalseMatches > min(clearlyBetter*r.view.FalseMatches(), r.cfg.Useless) || v.Origins < most-most/10 && !r.proved(v.Peer)
	})
	tier := func(v overlay.Knowledge) int {
		if r.proved(v.Peer) {
			return -1
		}
		return r.doubt(v.Peer)
	}
	waste := func(v overlay.Knowledge) float64 { return v.FalseMatches - q.likelihood(v.Peer) }
	tie := r.tieFor(q)
	slices.SortFunc(all, func(a, b overlay.Knowledge) int {
		return cmp.Or(cmp.Compare(tier(a), tier(b)), cmp.Compare(waste(a), waste(b)), cmp.Compare(tie(a.Peer), tie(b.Peer)))
	})
	return all
}

// mostOrigins returns the highest number of known peers that a linked peer states. The highest third of the statements,
// and those of peers in doubt, are left out.
func (r *Router) mostOrigins(all []overlay.Knowledge) int {
	var said []int
	for _, v := range all {
		if r.doubt(v.Peer) == 0 {
			said = append(said, v.Origins)
		}
	}
	return space.MostSaid(said, r.cfg.Limits.Boasters)
}

// informed reports whether a peer has answered that expects at most falseMatches false matches in the whole network.
func (q *search) informed(falseMatches float64) bool {
	return slices.ContainsFunc(q.referrers, func(v referrer) bool {
		return v.precise && v.state == answered && v.falseMatches <= falseMatches
	})
}

// worthOf returns the function that ranks contacts of equal use, of which a poor directory has many. A search for one
// holder prefers linked contacts, which need no connection, then contacts and ranges that are likely to hold the key.
// If that finds no holder, the second contact of a range is drawn from all. A search for all holders draws every
// contact from all: it asks no second one once it has found a holder, and a linked liar would hide all holders of its
// range. nil: all contacts are worth the same.
func (r *Router) worthOf(q *search) func(i int) float64 {
	if !q.cover.poor {
		return nil
	}
	linked := r.view.Linked()
	holders := map[space.Range]float64{} // expected number of holders in each range
	for i := range q.cover.contacts {
		c := &q.cover.contacts[i]
		holders[c.Range()] += q.likelihood(wire.PeerID(c.Peer))
	}
	return func(i int) float64 {
		c := &q.cover.contacts[i]
		switch {
		case q.cover.precise(i):
			return float64(len(q.cover.contacts) - i) // they are sorted
		case q.Mode == wire.All:
			return 0
		}
		p := wire.PeerID(c.Peer)
		_, connected := slices.BinarySearch(linked, p)
		return (1 + q.likelihood(p) + holders[c.Range()]) / match.Cost(0, connected, r.load[p])
	}
}

// likelihood returns the probability that a peer holds the key, by its match or name; 0 if it has neither.
func (q *search) likelihood(p wire.PeerID) float64 {
	i, ok := q.index[p]
	if !ok || q.candidates[i].state != waiting {
		return 0
	}
	c := &q.candidates[i]
	if !c.matched {
		return c.p
	}
	return float64(c.sized * c.trust)
}

// inRange returns the names that lie in the range that the contact was asked about.
func (q *search) inRange(a *referrer, names []wire.Record) []wire.Record {
	asked := a.contact.Range()
	return slices.DeleteFunc(slices.Clone(names), func(r wire.Record) bool { return !asked.Contains(r.Peer.Place()) })
}

// denied passes over the matches that a contact did not name, although they lie in the range known to it.
func (r *Router) denied(q *search, known space.Range, names []wire.PeerID) {
	for i := range q.candidates {
		c := &q.candidates[i]
		switch {
		case c.state != waiting || c.why != Matched || c.sure():
		case !known.Contains(c.record.Peer.Place()) || slices.Contains(names, c.record.Peer):
		default:
			q.passOver(c)
		}
	}
	r.rank(q)
}

// passOver skips a candidate that a contact of its range did not name (All), or moves it to the end (Any).
func (q *search) passOver(c *candidate) {
	if q.Mode == wire.All {
		c.state = passed
		return
	}
	c.p = 0
}
