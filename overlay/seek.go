package overlay

import (
	"time"

	"github.com/venn-p2p/venn/overlay/topology"
)

// A peer with little room first looks for those nearest to its place, as a lookup of Kademlia does. It asks the peers
// it knows for peers nearer to it, until the nearest have all been asked. The density of their places gives the size of
// the network, and so the range to cover. It is known before anything is fetched that could not be kept.

// seeker is the state of that.
type seeker struct {
	last map[PeerID]time.Duration // when each was last asked; 0: it asked us. At most seekMost
	at   time.Duration            // when somebody was last asked
	next time.Duration            // when a peer without a connection may be asked
	vain int                      // questions in a row that brought nobody
	over bool                     // the range stood still: from now on gossip brings who is there
}

const (
	// seekFor is how long after its start a peer seeks, and seekMost the most peers that it remembers.
	seekFor  = 30 * time.Second
	seekMost = 256
	// seekEvery is the time between two questions, and seekNewEvery between two to peers without a connection.
	seekEvery    = 500 * time.Millisecond
	seekNewEvery = time.Second
	// seekAgain is how long after a question the same peer may be asked another, unless the last seekVain questions
	// brought nobody.
	seekAgain = 2 * time.Second
	seekVain  = 2
)

func newSeeker() seeker { return seeker{last: map[PeerID]time.Duration{}} }

// asks notes that a peer asks us: there is a connection to it.
func (s *seeker) asks(p PeerID) {
	if _, known := s.last[p]; !known && len(s.last) < seekMost {
		s.last[p] = 0
	}
}

// due says whether a peer may be asked now, with or without a connection to it, and since when it was not.
func (s *seeker) due(now time.Duration, p PeerID) (since time.Duration, ok bool) {
	since = s.last[p]
	return since, since == 0 || s.vain < seekVain && now-since >= seekAgain
}

// seeking says whether a peer with little room still looks for those nearest to it.
func (o *Overlay) seeking(now time.Duration) bool {
	return o.cfg.MaxOrigins < littleRoom && now-o.scope.begun < seekFor && !o.scope.seeker.over
}

// seek chooses whom to ask for peers nearer to us. Peers with a connection come first, those not asked for longest
// before all. Then, when the last question brought nobody, come the nearest of the others.
func (o *Overlay) seek(now time.Duration) (to Record, ok bool) {
	s := &o.scope.seeker
	s.over = s.over || s.at > 0 && o.scope.depth > 0 && !o.starting(now)
	if !o.seeking(now) || len(s.last) >= seekMost {
		return to, false
	}
	best := now
	consider := func(r Record) {
		if since, due := s.due(now, r.Peer); due && since < best {
			to, best = r, since
		}
	}
	for _, p := range o.exchange.Linked() {
		if r, known := o.Record(p); known {
			consider(r)
		}
	}
	var strange []Record
	for _, l := range nearest(o.scope.place, o.askable(), topology.RangeLinks) {
		if _, met := s.last[l.Record.Peer]; met {
			consider(l.Record)
		} else if !o.exchange.IsLinked(l.Record.Peer) {
			strange = append(strange, l.Record)
		}
	}
	if best > 0 && now >= s.next && s.vain > 0 && len(strange) > 0 {
		to, s.next = strange[0], now+seekNewEvery
	}
	if to.Peer == "" {
		return to, false
	}
	s.vain++
	s.last[to.Peer], s.at = now, now
	return to, true
}
