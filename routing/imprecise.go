package routing

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
)

// A directory is imprecise where it is poor and no linked peer knows clearly more: no line carries much of everybody's
// summary. Each peer then knows one range well, around its own place.
//
// A query confirms the matches that the own directory is sure of, and the matches of the own range. About every other
// range it asks one peer of that range, as it asks contacts. A summary has no false negatives within its epoch, and a
// peer that knows a range well has mostly heard of the latest epoch. So a match here that the asked peer does not name
// is skipped (All) or asked last (Any). A peer that is named but does not match here is asked: the prefix held here is
// mostly of an earlier epoch.

// askRanges makes a query ask about ranges that other peers know well. It returns false if there is no peer to ask.
func (r *Router) askRanges(q *search) bool {
	if q.serves != nil {
		return false
	}
	if q.cover.contacts = r.view.Peers(); len(q.cover.contacts) == 0 {
		return false
	}
	q.cover.need = focus
	sharp := r.view.Precise()
	q.cover.begin(setOf(sharp))
	for i := range q.candidates {
		c := &q.candidates[i]
		c.precise = sharp.Contains(placeOf(c.record.Peer))
	}
	return true
}

// worthOf returns the function that ranks contacts of equal use, of which an imprecise query has many. A search for one
// holder prefers linked contacts, which need no connection, then contacts and ranges that are likely to hold the key.
// If that finds no holder, the second contact of a range is drawn from all. A search for all holders draws every
// contact from all: it asks no second one once it has found a holder, and a linked liar would hide all holders of its
// range. nil: all contacts are worth the same.
func (r *Router) worthOf(q *search) func(i int) float64 {
	switch {
	case q.cover.need == precision:
		return func(i int) float64 { return -float64(i) } // they are sorted
	case q.cover.need != focus, q.Mode == wire.All:
		return nil
	}
	linked := r.view.Linked()
	holders := map[space.Range]float64{} // expected in each range
	for i := range q.cover.contacts {
		c := &q.cover.contacts[i]
		holders[c.Range()] += q.likelihood(wire.PeerID(c.Peer))
	}
	return func(i int) float64 {
		c := &q.cover.contacts[i]
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
	return slices.DeleteFunc(slices.Clone(names), func(r wire.Record) bool { return !asked.Contains(placeOf(r.Peer)) })
}

// denied passes over the matches in the range known that a well-informed contact did not name.
func (r *Router) denied(q *search, known space.Range, names []wire.PeerID) {
	for i := range q.candidates {
		c := &q.candidates[i]
		switch {
		case c.state != waiting || c.why != Matched || c.sure():
		case !known.Contains(placeOf(c.record.Peer)) || slices.Contains(names, c.record.Peer):
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
	c.p *= discredit
}
