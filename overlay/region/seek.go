package region

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// A peer with little room first looks for those nearest to its place, as a lookup of Kademlia does. It asks the peers
// it knows for peers nearer to it, until the nearest have all been asked. The density of their places gives the size of
// the network, and so the range to cover. It is known before anything is fetched that could not be kept.

// seeker is the state of that.
type seeker struct {
	last map[wire.PeerID]time.Duration // when each was last asked; 0: it asked us. At most seekMost
	at   time.Duration                 // when somebody was last asked
	vain int                           // questions in a row that brought nobody
	over bool                          // the range stood still: from now on gossip brings who is there
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

func newSeeker() seeker { return seeker{last: map[wire.PeerID]time.Duration{}} }

// asks notes that a peer asks us: there is a connection to it.
func (s *seeker) asks(p wire.PeerID) {
	if _, known := s.last[p]; !known && len(s.last) < seekMost {
		s.last[p] = 0
	}
}

// due says whether a peer may be asked now, with or without a connection to it, and since when it was not.
func (s *seeker) due(now time.Duration, p wire.PeerID) (since time.Duration, ok bool) {
	since = s.last[p]
	return since, since == 0 || s.vain < seekVain && now-since >= seekAgain
}

// seeking says whether a peer with little room still looks for those nearest to it.
func (s *Region) seeking(now time.Duration) bool {
	return s.directory.Room() < littleRoom && now-s.begun < seekFor && !s.seeker.over
}

// seek chooses whom to ask for peers nearer to us. Peers with a connection come first, those not asked for longest
// before all. Then, when the last question brought nobody, come the nearest of the others. Nobody is asked whose answer
// is awaited.
func (s *Region) seek(now time.Duration) (to wire.Record, ok bool) {
	k := &s.seeker
	k.over = k.over || k.at > 0 && s.depth > 0 && !s.Starting(now)
	if !s.seeking(now) || len(k.last) >= seekMost {
		return to, false
	}
	best := now
	consider := func(r wire.Record) {
		if since, due := k.due(now, r.Peer); due && since < best && !s.awaits(r.Peer) {
			to, best = r, since
		}
	}
	for _, p := range s.exchange.Linked() {
		if r, known := s.directory.RecordOf(p); known {
			consider(r)
		}
	}
	var unlinked []wire.Record
	for _, l := range nearest(s.place, s.askable(), RangeLinks) {
		if _, met := k.last[l.Record.Peer]; met {
			consider(l.Record)
		} else if !s.exchange.IsLinked(l.Record.Peer) && !s.awaits(l.Record.Peer) {
			unlinked = append(unlinked, l.Record)
		}
	}
	if best > 0 && k.vain > 0 && len(unlinked) > 0 && s.due.Take(dueUnlinked, now) {
		to = unlinked[0]
		s.due.By(dueUnlinked, now+seekNewEvery)
	}
	if to.Peer == "" {
		return to, false
	}
	k.vain++
	k.last[to.Peer], k.at = now, now
	return to, true
}
