package region

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// wideRanges is the greatest depth of the ranges for which contacts are sought before a search needs them.
const wideRanges = 5

// Keep offers an entry's peer to the table of contacts, unless there is no record of it or the last dial failed.
func (s *Region) Keep(e *directory.Entry) {
	if e.Record().Envelope != nil && e.Peer() != "" && e.DialFails() == 0 {
		depth, said := s.depthOf(e)
		switch {
		case !said:
			s.addContact(e.Record(), depth, ByGuess)
		case depth <= s.depth-FarWider:
			s.addContact(e.Record(), depth, ByItself)
		default: // its range may soon be as wide as ours
			s.addContact(e.Record(), depth, ByHearsay)
		}
	}
}

// FarWider reports whether our range is far wider than those of most linked peers. It is false while our range may soon
// change.
func (s *Region) FarWider() bool { return s.usual >= s.depth+FarWider && !s.Starting(s.now) }

// Parts returns the depth of the parts of our range if each part needs a link, because our range is far wider than
// others; else 0.
func (s *Region) Parts() int {
	if !s.FarWider() {
		return 0
	}
	return min(s.usual, s.depth+space.MaxBits)
}

// Wider reports whether a peer covers far more than we, and knows more than twice as many origins as our range has: a
// peer that has just begun does not know its range yet.
func (s *Region) Wider(h wire.Hello) bool {
	return h.Depth <= s.depth-FarWider && float64(h.Origins) > 2*max(1, math.Ldexp(s.size, -s.depth))
}

// depthOf returns the depth of the range that an entry's peer covers. It is the peer's claim (said) if the peer is
// linked, claims a wider range than the guess, and knows at least filledTo of the origins expected there. Else it is a
// guess: our own depth, or the usual one if our range is far wider.
func (s *Region) depthOf(e *directory.Entry) (depth int, said bool) {
	depth = s.depth
	if s.FarWider() {
		depth = s.usual
	}
	h, linked := s.directory.Said(e.Peer())
	if linked && h.Depth < depth && float64(h.Origins+1) >= filledTo*math.Ldexp(s.size, -h.Depth) {
		return h.Depth, true
	}
	return depth, false
}

// addContact offers a peer to the table of contacts, and reports whether the table has it then.
func (s *Region) addContact(r wire.Record, depth int, by Word) bool {
	if s.depth == 0 || r.Peer == s.cfg.Self {
		return false
	}
	var group Group
	if s.cfg.Group != nil {
		group = GroupOf(s.cfg.Group(r))
	}
	return s.contacts.Add(Contact{
		Peer: string(r.Peer), Record: s.directory.Keep(r.Envelope), Place: r.Peer.Place(),
		Depth: ContactDepth(depth), Word: by, Group: group,
	})
}

// Contacts lists the contacts of the table, then spare contacts. Package overlay says more.
func (s *Region) Contacts() []Contact {
	out := s.contacts.All()
	if s.depth == 0 {
		return out
	}
	if of := s.sparing(); of != s.spare.of {
		s.spare = spare{of, s.spareContacts()}
	}
	return append(out, s.spare.list...)
}

// spare holds the spare contacts, and the state from which they were chosen.
type spare struct {
	of   sparing
	list []Contact
}

// sparing is the state that spare contacts depend on.
type sparing struct {
	directory, contacts uint64 // versions
	depth, parts        int
}

func (s *Region) sparing() sparing {
	return sparing{s.directory.Version(), s.contacts.version, s.depth, s.spareDepth()}
}

// spareContacts lists the entry nearest to us in each part of the other ranges, in the order of places. O(entries).
func (s *Region) spareContacts() (out []Contact) {
	spare, depth, own := map[space.Range]Contact{}, s.spareDepth(), s.Range()
	for _, e := range s.directory.Others() {
		if e == nil || e.Covered() || e.Record().Envelope == nil || e.DialFails() > 0 {
			continue
		}
		place := s.directory.Place(e)
		at, some := spare[space.Around(place, depth)]
		if own.Contains(place) || some && s.place.Distance(place) >= s.place.Distance(at.Place) || e.Refuted() {
			continue
		}
		denials, right := s.contacts.Conduct(place, string(e.Peer()))
		c := Contact{
			Peer: string(e.Peer()), Record: e.Record().Envelope, Place: place, Depth: ContactDepth(depth),
			Denials: denials, Right: right,
		}
		if _, chosen := s.contacts.Get(place, c.Peer); !chosen && !c.Refuted() {
			spare[c.Range()] = c
		}
	}
	for _, half := range slices.SortedFunc(maps.Keys(spare), func(a, b space.Range) int { return cmp.Compare(a.First(), b.First()) }) {
		out = append(out, spare[half])
	}
	return out
}

// ContactBytes returns the size in bytes of the contacts' records, except records that the directory holds, too.
func (s *Region) ContactBytes() (bytes int) {
	for c := range s.contacts.Each() {
		if e := s.directory.Lookup(wire.PeerID(c.Peer)); e == nil || e.Record().Envelope == nil {
			bytes += len(c.Record)
		}
	}
	return bytes
}

// Elsewhere offers a named peer of another range to the table of contacts. It returns FirstElsewhere if the peer has
// become the first contact in its wide range, else NoNews.
func (s *Region) Elsewhere(now time.Duration, n wire.Named) News {
	first := s.contacts.Empty(space.Around(n.Record.Peer.Place(), s.wideDepth()))
	depth, by := n.Depth, ByHearsay
	if s.Starting(now) { // others still look for their depth, too: assume that theirs equals ours
		depth, by = s.depth, ByGuess
	}
	if s.addContact(n.Record, depth, by) && first {
		return FirstElsewhere
	}
	return NoNews
}

// ContactAnswered notes the outcome of a question to a contact about a key.
func (s *Region) ContactAnswered(in event.ContactAnswered) {
	switch at, p := in.Peer.Place(), string(in.Peer); {
	case in.Failed:
		s.contacts.Failed(at, p)
	case in.Proved:
		s.contacts.Proved(at, p)
	case in.Denied:
		s.contacts.Denied(at, p)
	default:
		s.contacts.Answered(at, p, in.Depth)
	}
}

// spareDepth returns the depth of the parts into which the other ranges are divided for spare contacts, one contact a
// part. A part is half as wide as the narrower of our range and the usual one. If our range is far wider than that,
// there would be too many parts: each is half as wide as ours then.
func (s *Region) spareDepth() int {
	if s.FarWider() {
		return s.depth + 1
	}
	return max(s.depth, s.usual) + 1
}

// lacks returns the ranges in which the next inquiry asks for contacts: one in each wide range without a contact, and
// up to ContactsEach wide ranges with a single contact.
func (s *Region) lacks() space.Bitmap {
	depth := s.wideDepth()
	none := s.contacts.Lacks(1, depth)
	var room, more [1 << wideRanges]space.Range // on the stack
	wide := slices.AppendSeq(room[:0], none.All())
	few := s.contacts.Lacks(ContactsEach, depth)
	one := slices.DeleteFunc(slices.AppendSeq(more[:0], few.All()), func(r space.Range) bool { return none.Has(r.First()) })
	s.cfg.Rand.Shuffle(len(one), func(i, j int) { one[i], one[j] = one[j], one[i] })
	return s.someOf(append(wide, one[:min(len(one), ContactsEach)]...))
}

// wideDepth returns the depth of the ranges for which contacts are sought beforehand. Contacts for all narrower ranges
// would cost more than most searches need: see wanted.go.
func (s *Region) wideDepth() int { return min(s.depth, wideRanges) }

// someOf draws, for each of some wide ranges, a range of our own depth in it without a contact. It adds the empty
// ranges that this peer needs before others: near its own range, and at its meeting places.
func (s *Region) someOf(wide []space.Range) space.Bitmap {
	depth := min(s.depth, space.MaxBits)
	if depth == s.wideDepth() {
		return space.NewBitmap(depth, wide...)
	}
	out, empty := space.NewBitmap(depth), s.contacts.Lacks(1, depth)
	for _, w := range wide {
		in := empty.Within(w)
		if n := in.Len(); n > 0 {
			out.Add(in.Nth(s.cfg.Rand.IntN(n)))
		}
	}
	out.Or(empty.Within(space.Around(s.place, s.wideDepth())))
	for _, at := range s.meetingPlaces() {
		if empty.Has(at) {
			out.Add(space.Around(at, depth))
		}
	}
	return out
}

// lacksIn reports whether an asker lacks a contact anywhere in a range that is no deeper than its own.
func lacksIn(q wire.Inquiry, r space.Range) bool {
	depth := min(q.Depth, space.MaxBits)
	first := int(uint64(r.First()) >> (64 - depth))
	for i := first; i < first+1<<(depth-r.Depth()); i++ {
		if q.Lacks[i/8]&(0x80>>(i%8)) != 0 {
			return true
		}
	}
	return false
}
