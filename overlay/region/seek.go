package region

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A peer with little room first looks for the peers nearest to its place, as a lookup of Kademlia does. It asks the
// peers it knows for peers nearer to it, until the nearest have all been asked. The density of their places gives the
// size of the network, and so the range to cover. The range is known before anything is fetched that could not be kept.

// seeker is the state of this search.
type seeker struct {
	last map[wire.PeerID]time.Duration // when each peer was last asked; 0: it asked us. At most maxMet
	at   time.Duration                 // when a peer was last asked
	vain int                           // questions in a row that brought nobody
	over bool                          // the range stood still: from now on gossip finds peers
}

// seekEvery is the time between two questions, half of the time between two to unlinked peers.
const seekEvery = agenda.Brief

func newSeeker() seeker { return seeker{last: map[wire.PeerID]time.Duration{}} }

// asks notes that a peer has asked us: there is a connection to it.
func (s *seeker) asks(p wire.PeerID) {
	if _, known := s.last[p]; !known && len(s.last) < maxMet {
		s.last[p] = 0
	}
}

// due reports whether a peer may be asked now: at once if it was not yet, else after promptTime, until vain reaches
// beyondChance. since is the time of the last question to the peer; 0: none.
func (s *seeker) due(now time.Duration, p wire.PeerID) (since time.Duration, ok bool) {
	since = s.last[p]
	return since, since == 0 || s.vain < beyondChance && now-since >= promptTime
}

// seeking reports whether a peer with little room still looks for the peers nearest to it.
func (s *Region) seeking(now time.Duration) bool {
	return s.directory.UnlinkedCapacity() < littleRoom && now-s.begun < agenda.Lately && !s.seeker.over
}

// seek chooses the peer to ask for peers nearer to us. Connected peers come first, the one asked longest ago in front.
// If the last question brought nobody, the nearest others follow. A peer whose answer is awaited is passed over.
func (s *Region) seek(now time.Duration) (to wire.Record, ok bool) {
	k := &s.seeker
	k.over = k.over || k.at > 0 && s.depth > 0 && !s.Starting(now)
	if !s.seeking(now) || len(k.last) >= maxMet {
		return to, false
	}
	best := now
	consider := func(r wire.Record) {
		if since, due := k.due(now, r.Peer); due && since < best && !s.awaits(r.Peer) {
			to, best = r, since
		}
	}
	for _, l := range s.directory.Links() {
		if r, known := s.directory.RecordOf(l.Peer); known {
			consider(r)
		}
	}
	var unlinked []wire.Record
	for _, l := range nearest(s.place, s.askable(), RangeLinks) {
		if _, met := k.last[l.Record.Peer]; met {
			consider(l.Record)
		} else if !s.directory.IsLinked(l.Record.Peer) && !s.awaits(l.Record.Peer) {
			unlinked = append(unlinked, l.Record)
		}
	}
	if best > 0 && k.vain > 0 && len(unlinked) > 0 && s.due.Take(dueUnlinked, now) {
		to = unlinked[0]
		s.due.By(dueUnlinked, now+agenda.Beat)
	}
	if to.Peer == "" {
		return to, false
	}
	k.vain++
	k.last[to.Peer], k.at = now, now
	return to, true
}
