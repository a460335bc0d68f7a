package routing

import (
	"slices"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/coverage"
)

// A directory is blurred where it is poor and nobody linked knows clearly more: no line carries much of everybody's
// summary. Each peer knows a range around its own place well then. A query confirms the peers that its own directory is
// sure of, and those in its own range that match. About the rest it asks one peer of each range, as it asks contacts. A
// peer that matches here, but is not named by the peer asked about its range, is not asked (All), or last (Any).

// blur says whether a query is to go by what others know well of a range each.
func (r *Router) blur(q *flight) bool {
	if !q.poor || q.serves != nil || r.view.Covers().Depth() > 0 {
		return false
	}
	if _, f, ok := r.informant(q); ok && f <= r.cfg.Useless {
		return false
	}
	q.cover.contacts = r.view.Peers()
	q.blurred = len(q.cover.contacts) > 0
	return q.blurred
}

// inRange are the names that are of the range which a contact was asked about.
func (q *flight) inRange(a *ask, names []overlay.Record) []overlay.Record {
	asked := q.cover.contacts[a.contact-1].Range()
	return slices.DeleteFunc(slices.Clone(names), func(r overlay.Record) bool { return !asked.Contains(placeOf(r.Peer)) })
}

// denied takes in that a contact which knows a range well has named these, and nobody else of the range.
func (r *Router) denied(q *flight, known coverage.Range, names []overlay.PeerID) {
	for i := range q.candidates {
		c := &q.candidates[i]
		switch {
		case c.state != waiting || c.why != Matched || c.rate <= sureRate:
		case !known.Contains(placeOf(c.record.Peer)) || slices.Contains(names, c.record.Peer):
		case q.Mode == All:
			c.state = passed
		default:
			c.p *= discredit
		}
	}
	r.rank(q)
}
