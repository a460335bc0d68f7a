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
// it must be one in its range, or anywhere if it says that it knows all sharply. Its own name counts neither way. Peers
// like us, and those that know all more sharply, are asked before others. So such a one also did badly if it is late. One
// like us did, too, if it named nobody right, but several wrong or any in doubt.
func (r *Router) judgeVoices(q *flight) {
	for _, a := range q.asks {
		v := q.voices[a.voice]
		switch {
		case v.hits > 0:
			r.voices.note(r.now, a.peer, 1, 0)
		case v.silent > 0 && v.silent == v.names: // it cost a dial each
			r.voices.note(r.now, a.peer, 0, doubtFrom)
		case v.givenUp, a.state == failed, a.denied, q.boasted(&a, r.cfg.Useless):
			r.voices.note(r.now, a.peer, 0, 1)
		case a.state == asking && r.overdue(q, &a) && (a.contact.Role == coverage.Alike || a.contact.Role == coverage.Sharper):
			r.voices.note(r.now, a.peer, 0, 1)
		case a.contact.Role == coverage.Alike && (v.misses >= alikeMisses || v.doubtful()):
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

// boasted says whether a peer that says it knows all with at most so many false matches has named none of the others
// that were found. The range of its answer doesn't matter: it was asked first for what it says of all.
func (q *flight) boasted(a *ask, falseMatches float64) bool {
	if a.contact.Role != coverage.Sharper || a.state != answered || a.falseMatches > falseMatches {
		return false
	}
	others := false
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == answered && c.record.Peer != a.peer {
			if slices.Contains(a.names, c.record.Peer) {
				return false
			}
			others = true
		}
	}
	return others
}
