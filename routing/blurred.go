package routing

import (
	"slices"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/routing/match"
)

// A directory is blurred where it is poor and nobody linked knows clearly more: no line carries much of everybody's
// summary. Each peer knows a range around its own place well then. A query confirms the peers that its own directory is
// sure of, and those in its own range that match. About the rest it asks one peer of each range, as it asks contacts. A
// summary has no false negatives of its own epoch, and who knows the range well has mostly heard of the latest. So a
// peer that matches here, but is not named by the peer asked about its range, is not asked (All), or last (Any). A peer
// that is named there is asked, though it does not match here: what is known here of it is mostly of an earlier epoch,
// for less of the same summary matches all the more.

// blur has a query ask about what others know well of a range each; false if there is nobody to ask.
func (r *Router) blur(q *flight) bool {
	if q.serves != nil {
		return false
	}
	if q.cover.contacts = r.view.Peers(); len(q.cover.contacts) == 0 {
		return false
	}
	q.cover.need = focus
	sharp := r.view.Sharp()
	q.cover.begin(setOf(sharp))
	for i := range q.candidates {
		c := &q.candidates[i]
		c.sharp = sharp.Contains(placeOf(c.record.Peer))
	}
	return true
}

// worthOf says what it is worth to ask a contact rather than others of the same use: a blurred query has many to choose
// from. A search for one holder prefers those that are linked, for no connection need be made, those that may hold the
// key, and ranges that may hold it. If nobody is found, a contact that speaks second for its range is drawn from all. A
// search for all holders asks no second one once somebody is found. So its contacts are drawn from all: a linked one
// that denies would hide every holder of its range. nil: all alike.
func (r *Router) worthOf(q *flight) func(i int) float64 {
	switch {
	case q.cover.need == sharpness:
		return func(i int) float64 { return -float64(i) } // they are sorted
	case q.cover.need != focus, q.Mode == All:
		return nil
	}
	linked := r.view.Linked()
	holders := map[coverage.Range]float64{} // expected in each range
	for i := range q.cover.contacts {
		c := &q.cover.contacts[i]
		holders[c.Range()] += q.likelihood(overlay.PeerID(c.Peer))
	}
	return func(i int) float64 {
		c := &q.cover.contacts[i]
		p := overlay.PeerID(c.Peer)
		_, connected := slices.BinarySearch(linked, p)
		return (1 + q.likelihood(p) + holders[c.Range()]) / match.Cost(0, connected, r.load[p])
	}
}

// likelihood is the probability that a peer holds the key, by what speaks for it here; 0 if nothing does.
func (q *flight) likelihood(p overlay.PeerID) float64 {
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

// inRange are the names that are of the range which a contact was asked about.
func (q *flight) inRange(a *ask, names []overlay.Record) []overlay.Record {
	asked := a.contact.Range()
	return slices.DeleteFunc(slices.Clone(names), func(r overlay.Record) bool { return !asked.Contains(placeOf(r.Peer)) })
}

// denied takes in that a contact which knows a range well has named these, and nobody else of the range.
func (r *Router) denied(q *flight, known coverage.Range, names []overlay.PeerID) {
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

// passOver has a candidate that those who know its range deny not asked (All), or asked last (Any).
func (q *flight) passOver(c *candidate) {
	if q.Mode == All {
		c.state = passed
		return
	}
	c.p *= discredit
}
