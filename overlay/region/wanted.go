package region

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A contact for every range costs more than most searches need: the records of 127 take 30 kB. So beforehand a peer
// learns only of contacts in each wide range. A search that has asked these contacts in vain wants more: contacts for
// the other ranges, contacts in place of silent ones, and then a second contact for each range. A few peers are asked
// for them at once. The contacts that they name are kept, for later searches.
//
// A search waits for the peers asked for it, and for peers asked for other searches shortly before. So a peer that
// holds an inquiry open does not delay all later searches.

const (
	// promptTime is the time after an inquiry within which a search may begin to wait for its answer.
	promptTime = agenda.Soon
	// inquiryTime is the longest time for which an answer is awaited. The asked node gives up earlier.
	inquiryTime = agenda.Faded
)

// inquiry is a question whose answer is awaited.
type inquiry struct {
	since    time.Duration
	searches []uint64 // searches that wait for it; nil: it is not for contacts
}

// Answered notes the answer of a peer to an inquiry, with the depth that it vouches for. It reports whether an answer
// was awaited. [Region.Release] must follow.
func (s *Region) Answered(now time.Duration, from wire.PeerID, depth int) bool {
	if !s.awaits(from) {
		return false
	}
	if place := from.Place(); s.Starting(now) {
		s.contacts.Lives(place, string(from))
	} else {
		s.contacts.Answered(place, string(from), depth)
	}
	s.meetAnswered(from)
	return true
}

// News is the new knowledge in an answer.
type News uint8

// Second contacts of a range are no news. They are kept, but cause no further questions.
const (
	NoNews         News = iota
	OneNear             // a peer of our range
	OneAlike            // the summary of a similar peer
	FirstElsewhere      // the first contact of another range
)

// Learned notes the news of an answer. After OneNear the search for our range goes on; after any news the pauses of
// gossip are short again.
func (s *Region) Learned(n News) {
	if n == OneNear {
		s.seeker.vain = 0
	}
	if n != NoNews {
		s.gossip.Learned()
	}
}

// Silent notes that a peer has not answered an inquiry; if later is set, the peer is not to blame. It reports whether
// an answer was awaited: then [Region.Release] must follow.
func (s *Region) Silent(from wire.PeerID, later bool) bool {
	if !s.awaits(from) {
		return false
	}
	if !later {
		s.contacts.Failed(from.Place(), string(from))
	}
	return true
}

// Overdue returns the peers whose answers have been awaited for longer than any driver waits.
func (s *Region) Overdue(now time.Duration) (out []wire.PeerID) {
	for _, p := range slices.Sorted(maps.Keys(s.awaited)) {
		if now-s.awaited[p].since >= inquiryTime {
			out = append(out, p)
		}
	}
	return out
}

// Want returns peers to ask for contacts, no more than most, and the question: about the ranges without a contact, or
// if there are none, about the ranges with fewer than ContactsEach. The search waits for their answers, and for answers
// of peers asked for other searches shortly before.
func (s *Region) Want(search uint64, most int) (to []wire.Record, q wire.Inquiry) {
	depth := min(s.depth, space.MaxBits)
	lacks := s.contacts.Lacks(1, depth)
	if lacks.Len() == 0 {
		lacks = s.contacts.Lacks(ContactsEach, depth)
	}
	if lacks.Len() > 0 {
		q = wire.Inquiry{Depth: s.depth, Lacks: lacks.Bytes(), Least: math.MaxUint16} // no similar peers
		to = s.someToAsk(most)
	}
	for _, r := range to {
		s.awaited[r.Peer] = inquiry{s.now, []uint64{search}}
	}
	for p, i := range s.awaited {
		if i.searches != nil && s.prompt(p) && !slices.Contains(i.searches, search) {
			i.searches = append(i.searches, search)
			s.awaited[p] = i
		}
	}
	return to, q
}

// Release ends an inquiry, and returns the searches that waited for it.
func (s *Region) Release(from wire.PeerID) []uint64 {
	defer delete(s.awaited, from)
	return s.awaited[from].searches
}

// awaits reports whether a peer's answer to an inquiry is awaited.
func (s *Region) awaits(p wire.PeerID) bool {
	_, asked := s.awaited[p]
	return asked
}

// prompt reports whether a peer was asked so recently that a search may wait for its answer.
func (s *Region) prompt(p wire.PeerID) bool { return s.now-s.awaited[p].since < promptTime }

// AwaitedBy returns the number of peers that a search waits for. Peers asked too long ago do not count.
func (s *Region) AwaitedBy(search uint64) (n int) {
	for p, i := range s.awaited {
		if s.prompt(p) && slices.Contains(i.searches, search) {
			n++
		}
	}
	return n
}

// someToAsk draws peers that can be asked now: linked ones, and contacts if there are not enough.
func (s *Region) someToAsk(n int) (out []wire.Record) {
	var contacts []wire.Record
	for _, l := range s.directory.Links() {
		if r, ok := s.directory.RecordOf(l.Peer); ok && !s.awaits(l.Peer) {
			out = append(out, r)
		}
	}
	for c := range s.contacts.Each() {
		if p := wire.PeerID(c.Peer); c.Failed == 0 && !c.Refuted() && !s.awaits(p) && !s.directory.IsLinked(p) {
			contacts = append(contacts, wire.Record{Peer: p, Envelope: c.Record})
		}
	}
	for _, all := range [][]wire.Record{out, contacts} {
		s.cfg.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	out = append(out, contacts...)
	return slices.Clone(out[:min(n, len(out))])
}
