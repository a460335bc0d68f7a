package region

import (
	"iter"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// In a large network hardly any peer that a peer comes to know is similar to it, and gossip about similar peers has no
// beginning. So peers with keys in common meet. The least hash of a collection's keys names a place: two collections
// have the same with the probability of their resemblance (min-wise hashing: Broder 1997). A peer without similar peers
// looks up the peer nearest to that place, by asking peers ever nearer to it. Each remembers the asker for a while, and
// passes on the summaries of earlier visitors that are similar to it. A peer that knows similar peers comes back now
// and then, for newcomers to find it.

// meeting is the state of meeting: the lookup under way, and the visitors of this peer.
type meeting struct {
	place   space.Place   // place that is looked up; 0: none
	named   []located     // peers nearer to the place than all that had answered; at most meetNamed by each answer
	opened  int           // number of records opened in the last answer
	asked   []wire.PeerID // peers asked in this lookup
	last    wire.PeerID   // peer that was asked last
	reached uint64        // distance from the place to the nearest peer that has answered, ourselves at first
	lookups int           // lookups ended since the meeting places of our collection changed
	least   [2]uint64     // least hashes of our collection at the last lookups, which gave their places
	next    time.Duration // no lookup begins before then
	ended   time.Duration // when the last lookup ended; 0: none has

	visitors []visitor // the latest last; at most Config.Visitors
}

// visitor is a peer that asked here for similar peers.
type visitor struct {
	peer   wire.PeerID
	place  space.Place
	prefix *summary.Prefix
	says   wire.Parts    // first parts of its summary, as they are passed on
	until  time.Duration // when it is forgotten: at the end of its summary's lifetime
}

// memory returns about the number of bytes that a visitor takes. Its summary is held twice: as bytes and decoded.
func (v *visitor) memory() int {
	n := len(v.says.Envelope) + len(v.says.Record) + v.prefix.SizeBytes()
	for _, p := range v.says.Run.Parts {
		n += len(p)
	}
	return n
}

const (
	// fewAlike is the number of similar peers below which a peer looks often for more at a meeting place. From fewAlike
	// similar peers on, gossip is faster. With half as many, peers look nobody up (TestBytesOfRounds).
	fewAlike = bound.Enough
	// firstLookups is the number of lookups that follow each other after ten seconds: peers that come early meet nobody.
	// After each further lookup the wait doubles, up to lastRound. A peer with fewAlike similar peers waits ten minutes
	// after its first lookup, and doubles that wait after each further one.
	firstLookups = bound.Handful
	// mostHops is the largest number of peers asked in one lookup.
	mostHops = bound.Handful
	// meetNamed caps the peers named to an asker that looks up a place, all nearer to the place than the answerer.
	meetNamed = RangeLinks
	// maxVisitors caps the visitors remembered, each for the lifetime of its summary. Within that time visitors come to
	// a place again: with every second lookup, since lookups use two hashes in turn.
	maxVisitors = bound.Few // each of about two kilobytes
)

// meet chooses the peer to ask about the meeting place of our collection; ok is false if nobody is to be asked now. A
// lookup waits while the nearest peer owes an answer to another question, and passes over that peer promptTime after
// that question.
func (s *Region) meet(now time.Duration, similar []*directory.Entry) (to wire.Record, ok bool) {
	m := &s.meeting
	if s.Starting(now) || now < m.next || s.awaits(m.last) ||
		len(similar) >= fewAlike && now < m.ended+agenda.Doubled(agenda.Faded, m.lookups-1, lastRound) {
		return to, false
	}
	if m.place == 0 && !s.beginLookup() {
		return to, false
	}
	best := located{}
	least := m.reached
	consider := func(l located) {
		if d := m.place.Distance(l.place); d < least && !slices.Contains(m.asked, l.Record.Peer) {
			best, least = l, d
		}
	}
	for l := range s.askable() {
		consider(l)
	}
	for _, l := range m.named {
		consider(l)
	}
	if best.Record.Peer == "" || len(m.asked) >= mostHops {
		m.place, m.lookups = 0, m.lookups+1
		m.next, m.ended = now+m.pause(), now
		return to, false
	}
	if p := best.Record.Peer; s.awaits(p) {
		if !s.prompt(p) {
			m.asked = append(m.asked, p)
		}
		return to, false
	}
	m.asked, m.last = append(m.asked, best.Record.Peer), best.Record.Peer
	return best.Record, true
}

// pause returns the time from the last lookup to the next, while few similar peers are known.
func (m *meeting) pause() time.Duration {
	return agenda.Doubled(agenda.Attempt, m.lookups-firstLookups+1, lastRound)
}

// Published starts the lookups again if our collection now has another place than the one looked up.
func (s *Region) Published(now time.Duration) {
	m := &s.meeting
	begun := m.lookups
	if m.place != 0 {
		begun++
	}
	for hash := range min(begun, len(m.least)) {
		if least, ok := compare.Least(s.own(), hash); ok && least != m.least[hash] {
			m.place, m.lookups, m.next, m.ended = 0, 0, min(m.next, now+agenda.Attempt), 0
			return
		}
	}
}

// beginLookup begins to look up a meeting place. It returns false while nothing is published.
func (s *Region) beginLookup() bool {
	m := &s.meeting
	hash := m.lookups % 2
	least, ok := compare.Least(s.own(), hash)
	if !ok {
		return false
	}
	m.least[hash] = least
	m.place, m.named, m.asked, m.last = meetingPlace(least), nil, nil, ""
	m.reached = m.place.Distance(s.place)
	return true
}

// meetingPlace returns the place that a least hash names; never 0.
func meetingPlace(least uint64) space.Place { return space.Place(max(least, 1)) }

// meetingPlaces returns the meeting places of our collection; none while nothing is published.
func (s *Region) meetingPlaces() (out []space.Place) {
	for hash := range len(s.meeting.least) {
		if least, ok := compare.Least(s.own(), hash); ok {
			out = append(out, meetingPlace(least))
		}
	}
	return out
}

// Nearer adds a peer to the lookup that the peer from has named, if it is nearer to the place than all that have
// answered. An answer lists such peers first, so records are opened only for the first meetNamed.
func (s *Region) Nearer(from wire.PeerID, r wire.Record) {
	m := &s.meeting
	if m.place == 0 || from != m.last || m.opened >= meetNamed {
		return
	}
	l := located{wire.Named{Record: r}, r.Peer.Place()}
	if m.place.Distance(l.place) >= m.reached || r.Peer == s.cfg.Self {
		return
	}
	m.opened++
	if p, err := s.cfg.OpenRecord(r.Envelope); err == nil && p == r.Peer {
		m.named = append(m.named, l)
	}
}

// meetAnswered notes that a peer has answered about the place that is looked up. It must be called before Nearer is
// called for the peers that the answer names.
func (s *Region) meetAnswered(from wire.PeerID) {
	m := &s.meeting
	if m.place != 0 && from == m.last {
		m.reached, m.opened = min(m.reached, m.place.Distance(from.Place())), 0
	}
}

// nearerThanWe returns peers nearer to a place than we are, for an asker that looks it up.
func (s *Region) nearerThanWe(place space.Place, from wire.PeerID) (nearer []wire.Named) {
	own := place.Distance(s.place)
	for _, l := range nearest(place, s.askable(), meetNamed) {
		if l.Record.Peer != from && place.Distance(l.place) < own {
			nearer = append(nearer, l.Named)
		}
	}
	return nearer
}

// Visit remembers a peer that asked here for similar peers, if its summary is known. Visitors take at most half of the
// memory that the first parts of origins leave.
func (s *Region) Visit(now time.Duration, from wire.PeerID) {
	e := s.directory.Lookup(from)
	if e == nil || e.Old() {
		return
	}
	says, ok := introduction(e)
	if !ok {
		return
	}
	known := e.Newest().Truncate(len(says.Run.Parts)) // more of it would take more memory
	m := &s.meeting
	m.visitors = slices.DeleteFunc(m.visitors, func(v visitor) bool { return v.peer == from || now >= v.until })
	m.visitors = append(m.visitors, visitor{from, from.Place(), known, says, now + known.Header().Lifetime})
	for len(m.visitors) > s.cfg.Visitors || float64(s.VisitorBytes()) > float64((1-directory.OriginShare)/2*float64(s.cfg.Memory)) {
		m.visitors = slices.Delete(m.visitors, 0, 1)
	}
}

// visitorsFor yields the visitors that an asker can be introduced to: it does not know them, and the directory holds no
// summary of theirs.
func (s *Region) visitorsFor(from wire.PeerID, known map[uint32]uint16) iter.Seq[*visitor] {
	return func(yield func(*visitor) bool) {
		for i := range s.meeting.visitors {
			v := &s.meeting.visitors[i]
			if _, knows := known[uint32(v.place>>32)]; knows || v.peer == from || s.now >= v.until {
				continue
			}
			if e := s.directory.Lookup(v.peer); e != nil && e.Held() != nil {
				continue
			}
			if !yield(v) {
				return
			}
		}
	}
}

// VisitorBytes returns the memory that the visitors take.
func (s *Region) VisitorBytes() (bytes int) {
	for i := range s.meeting.visitors {
		bytes += s.meeting.visitors[i].memory()
	}
	return bytes
}
