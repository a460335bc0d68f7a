package routing

import (
	"cmp"
	"math"
	"slices"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A directory may know the whole network, but imprecisely: too little of many summaries to tell who holds a key. Linked
// peers that know all of it more precisely are contacts of depth 0. One is asked at a time, the most precise first,
// before any match that is not sure. If no linked peer knows more, see imprecise.go.

const (
	// clearlyBetter is the factor of our Σf that a more precise peer's must not exceed.
	clearlyBetter = 0.5
	// mostPrecise is the most linked peers that a query asks for more precise knowledge.
	mostPrecise = 6
	// mostAnswers is the number of answers of these peers that suffices; answers in doubt do not count.
	mostAnswers = 2
)

// seekPrecise makes a query ask linked peers that know the network more precisely. It returns false if there are none, or
// if they know so little more that asking about ranges is better.
func (r *Router) seekPrecise(q *search) bool {
	if r.settled(q) || len(r.view.Contacts()) > 0 {
		return false
	}
	all := r.morePrecise(q)
	if (len(all) == 0 || all[0].FalseMatches > r.cfg.Useless) && r.askRanges(q) {
		return true
	}
	if len(all) == 0 {
		return false
	}
	// if these fail, linked peers of unknown precision are asked
	for _, p := range r.inOwnOrder(q) {
		if !slices.ContainsFunc(all, func(v overlay.Knowledge) bool { return v.Peer == p }) {
			all = append(all, overlay.Knowledge{Peer: p, FalseMatches: math.Inf(1)})
		}
	}
	q.cover.contacts = nil // clears contacts of ranges, if the directory was not for everybody when the query began
	for _, v := range all[:min(len(all), mostPrecise)] {
		q.cover.contacts = append(q.cover.contacts, region.Contact{Peer: string(v.Peer), Place: placeOf(v.Peer), Role: region.Precise})
		q.cover.matches = append(q.cover.matches, v.FalseMatches)
	}
	q.cover.need = precision
	q.cover.begin(space.Set{})
	return true
}

// askPrecise makes an Any query that asked no contact ask more precise peers: the names that it had did not help,
// whatever this node's Σf is.
func (r *Router) askPrecise(q *search) bool {
	return q.cover.need == ranges && q.Mode == wire.Any && q.found == 0 && q.contactsAsked() == 0 && r.seekPrecise(q)
}

// morePrecise returns the linked peers that expect clearly fewer false matches than this node, the fewest first. They
// must claim to know at least nine tenths of the peers that others claim to know. Peers that named holders before come
// first, peers in doubt last. The probability that a peer holds the key itself improves its place: it confirms by
// naming itself.
func (r *Router) morePrecise(q *search) []overlay.Knowledge {
	all := slices.DeleteFunc(r.view.Knowledge(), func(v overlay.Knowledge) bool { return q.excluded(r.cfg.Self, v.Peer) })
	most := r.mostOrigins(all)
	all = slices.DeleteFunc(all, func(v overlay.Knowledge) bool {
		return v.FalseMatches > clearlyBetter*r.view.FalseMatches() || v.Origins < most-most/10 && !r.credible(v.Peer)
	})
	tier := func(v overlay.Knowledge) int {
		if r.credible(v.Peer) {
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

// credible reports whether a peer has named holders. Its claims about its directory then count before other peers'.
func (r *Router) credible(p wire.PeerID) bool { return r.proved(p) }

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

// preciseEnough reports whether the query needs no further precise peer: a peer that is not poor has answered, or two
// others have.
func (r *Router) preciseEnough(q *search) bool {
	answers := 0
	for i := range q.referrers {
		if v := &q.referrers[i]; !v.child && v.state == answered && !v.doubtful() {
			answers++
		}
	}
	return answers >= mostAnswers || q.informed(r.cfg.Poor)
}

// informed reports whether a peer has answered that expects at most falseMatches false matches in the whole network.
func (q *search) informed(falseMatches float64) bool {
	return q.cover.need == precision && slices.ContainsFunc(q.referrers, func(v referrer) bool {
		return !v.child && v.state == answered && v.falseMatches <= falseMatches
	})
}
