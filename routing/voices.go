package routing

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/routing/defence"
)

const (
	// maxVoices is how many of those who name peers are remembered.
	maxVoices = 256
	// voiceHalved is how long it takes for what is remembered to count half.
	voiceHalved = 5 * time.Minute
	// doubtFrom is how much worse than half right a voice must have been to be doubted.
	doubtFrom = 2
	// alikeMisses is how many wrong names, with none right, make the answer of a peer like us a bad one.
	alikeMisses = wrongNames / 2
)

// reputation is how the names fared that a peer gave in earlier queries, fading.
type reputation struct {
	good, bad float64
	at        time.Duration
}

func (v reputation) faded(now time.Duration) reputation {
	f := math.Exp2(-float64(now-v.at) / float64(voiceHalved))
	return reputation{v.good * f, v.bad * f, now}
}

func (v reputation) weight() float64 { return v.good + v.bad }

// reputations are those of at most [maxVoices] peers.
type reputations map[overlay.PeerID]reputation

func (rs *reputations) note(now time.Duration, p overlay.PeerID, good, bad float64) {
	if good+bad == 0 {
		return
	}
	if *rs == nil {
		*rs = reputations{}
	}
	v := (*rs)[p].faded(now)
	(*rs)[p] = reputation{v.good + good, v.bad + bad, now}
	if len(*rs) > maxVoices {
		rs.forget(now, p)
	}
}

// forget drops the one that weighs least, but not the last one noted.
func (rs *reputations) forget(now time.Duration, not overlay.PeerID) {
	var least overlay.PeerID
	w := math.Inf(1)
	for p, v := range *rs {
		if p == not {
			continue
		}
		if x := v.faded(now).weight(); cmp.Or(cmp.Compare(x, w), cmp.Compare(p, least)) < 0 {
			least, w = p, x
		}
	}
	delete(*rs, least)
}

// doubt is 1 for a peer whose names were mostly wrong of late, 0 for others.
func (r *Router) doubt(p overlay.PeerID) int {
	v := r.voices[p].faded(r.now)
	if r.cfg.Undefended.Has(defence.Voices) || v.bad < 2*v.good+doubtFrom {
		return 0
	}
	return 1
}

// proved says whether a peer has named holders of late, and few wrong peers.
func (r *Router) proved(p overlay.PeerID) bool {
	v := r.voices[p].faded(r.now)
	return v.good >= 0.5 && v.good > v.bad && !r.cfg.Undefended.Has(defence.Voices)
}

// judgeVoices remembers, at the end of a query, how those fared who were asked for names. One who named a holder did
// well. One did badly who failed, whose names were given up, or who named no holder though there was one. For a contact
// it must be one in its range. Its own name counts neither way. Peers like us are asked before others. So such a one
// also did badly if it is late, or if it named nobody right, but several wrong or any in doubt.
func (r *Router) judgeVoices(q *flight) {
	for _, a := range q.asks {
		v := q.voices[a.voice]
		switch {
		case v.hits > 0:
			r.voices.note(r.now, a.peer, 1, 0)
		case v.silent > 0 && v.silent == v.names: // it cost a dial each
			r.voices.note(r.now, a.peer, 0, doubtFrom)
		case v.givenUp, a.state == failed, a.denied, a.contact == 0 && a.state == answered && q.foundBeside(a.peer) > 0:
			r.voices.note(r.now, a.peer, 0, 1)
		case q.roleOf(&a) == coverage.Alike && (v.misses >= alikeMisses || v.doubtful() || a.state == asking && r.overdue(q, &a)):
			r.voices.note(r.now, a.peer, 0, 1)
		}
	}
	for _, c := range q.children {
		v := q.voices[c.voice]
		switch {
		case v.hits > 0:
			r.voices.note(r.now, c.peer, 1, 0)
		case v.misses > 0:
			r.voices.note(r.now, c.peer, 0, 1)
		}
	}
}

// bestInformed is the linked peer that expects the fewest false matches, among those that a query may ask. It must also
// say that it knows at least nine tenths as many peers as others do. One that has named holders before comes first if
// it knows clearly more than we. One that is in doubt is not believed; its claims count only when nobody else makes
// any. A peer that may hold the key itself is better by the probability of that: its own name is confirmed by naming it.
func (r *Router) bestInformed(q *flight) (p overlay.PeerID, falseMatches float64, ok bool) {
	var tiers [3][]overlay.Informant
	for _, v := range r.view.Informants() {
		if may := q.askOf(v.Peer) == nil && !q.excluded(r.cfg.Self, v.Peer); may || r.cfg.Undefended.Has(defence.Boasts) {
			tier := r.tier(v)
			tiers[tier] = append(tiers[tier], v)
		}
	}
	tie := r.tieFor(q)
	clearly := r.clearly()
	least := 0.0 // questions wasted on its false matches, less the one that its own name may save
	for _, all := range tiers {
		most := r.mostOrigins(all)
		for _, v := range all {
			if v.Origins < most-most/10 {
				continue
			}
			waste := v.FalseMatches
			if waste <= clearly {
				waste -= q.likelihood(v.Peer)
			}
			if !ok || waste < least || waste == least && tie(v.Peer) < tie(p) {
				p, falseMatches, least, ok = v.Peer, v.FalseMatches, waste, true
			}
		}
		if ok {
			break
		}
	}
	return p, falseMatches, ok && q.askOf(p) == nil && !q.excluded(r.cfg.Self, p)
}

// clearly is the most false matches of a peer that knows clearly more than we.
func (r *Router) clearly() float64 { return clearlyBetter * r.view.FalseMatches() }

// tier is 0 for an informant that has named holders and knows clearly more than we, 1 for others, 2 for one in doubt.
func (r *Router) tier(v overlay.Informant) int {
	proved := r.proved(v.Peer) && v.FalseMatches <= r.clearly() && !r.cfg.Undefended.Has(defence.Boasts)
	if proved {
		return 0
	}
	return 1 + r.doubt(v.Peer)
}

// mostOrigins is how many peers those know who know the most, without the word of the third that says most.
func (r *Router) mostOrigins(all []overlay.Informant) int {
	said := make([]int, len(all))
	for i, v := range all {
		said[i] = v.Origins
	}
	if len(said) > 0 && r.cfg.Undefended.Has(defence.Boasts) {
		return slices.Max(said)
	}
	return coverage.MostSaid(said)
}
