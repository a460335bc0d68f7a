package region

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// wideRanges is the greatest depth of the ranges in each of which contacts are looked for before a search needs them.
	wideRanges = 5
	// secondContacts is in how many ranges a second contact is looked for at a time.
	secondContacts = 2
	// emptyFirst is how many inquiries in a row ask for contacts in the same empty ranges alone.
	emptyFirst = 4
)

// Keep makes a contact of an entry's peer, if its range has place for one.
func (s *Region) Keep(e *directory.Entry) {
	if e.Record().Envelope != nil && e.Peer() != "" && e.DialFails() == 0 {
		depth, said := s.depthOf(e)
		switch {
		case !said:
			s.addContact(e.Record(), depth, ByGuess)
		case depth <= s.depth-FarWider:
			s.addContact(e.Record(), depth, ByItself)
		default: // its range may soon be as ours
			s.addContact(e.Record(), depth, ByHearsay)
		}
	}
}

// FarWider says whether the own range is far wider than those of most linked peers. It is not as long as it may soon be
// another.
func (s *Region) FarWider() bool { return s.usual >= s.depth+FarWider && !s.Starting(s.now) }

// Parts is the depth of the ranges, a part of the own one each, that a peer whose range is far wider than others needs
// links into; 0: it is not.
func (s *Region) Parts() int {
	if !s.FarWider() {
		return 0
	}
	return min(s.usual, s.depth+space.MaxBits)
}

// Wider says whether a peer covers far more than we, and knows more than twice as many origins as there are in our range:
// a peer that has just begun does not know its range yet.
func (s *Region) Wider(h wire.Hello) bool {
	return h.Depth <= s.depth-FarWider && float64(h.Origins) > 2*max(1, math.Ldexp(s.size, -s.depth))
}

// depthOf is the depth of the range that an entry's peer covers. It is what the peer says if it is linked, covers more
// than others and knows about as many origins as it should. Else it is a guess: as ours, or as that of most if ours is
// far wider.
func (s *Region) depthOf(e *directory.Entry) (depth int, said bool) {
	depth = s.depth
	if s.FarWider() {
		depth = s.usual
	}
	h, linked := s.exchange.Said(e.Peer())
	if linked && h.Depth < depth && float64(h.Origins+1) >= filledTo*math.Ldexp(s.size, -h.Depth) {
		return h.Depth, true
	}
	return depth, false
}

func (s *Region) addContact(r wire.Record, depth int, by Word) bool {
	if s.depth == 0 || r.Peer == s.cfg.Self {
		return false
	}
	var group Group
	if s.cfg.Group != nil {
		group = GroupOf(s.cfg.Group(r))
	}
	return s.contacts.Add(Contact{
		Peer: string(r.Peer), Record: s.directory.Keep(r.Envelope), Place: exchange.PlaceOf(r.Peer),
		Depth: ContactDepth(depth), Word: by, Group: group,
	})
}

// Contacts lists the contacts, see package overlay.
func (s *Region) Contacts() []Contact {
	out := s.contacts.All()
	if s.depth == 0 {
		return out
	}
	if of := s.sparing(); of != s.spare.of {
		s.spare = spare{of, s.spareContacts()}
	}
	return append(append(out, s.spare.list...), s.similarContacts()...)
}

// spare is the spare contacts as of some state.
type spare struct {
	of   sparing
	list []Contact
}

// sparing is all that spare contacts depend on.
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
			Denials: denials, Right: right, Role: Spare,
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

// ContactBytes is the size of the records of contacts that the directory does not hold.
func (s *Region) ContactBytes() (bytes int) {
	for c := range s.contacts.Each() {
		if e := s.directory.Lookup(wire.PeerID(c.Peer)); e == nil || e.Record().Envelope == nil {
			bytes += len(c.Record)
		}
	}
	return bytes
}

// Elsewhere takes in a peer of another range that somebody names. It says what that is worth.
func (s *Region) Elsewhere(now time.Duration, n wire.Named) News {
	first := s.contacts.Empty(space.Around(exchange.PlaceOf(n.Record.Peer), s.wideDepth()))
	depth, by := n.Depth, ByHearsay
	if s.Starting(now) { // others look for their depth, too: it is taken to be as ours
		depth, by = s.depth, ByGuess
	}
	if s.addContact(n.Record, depth, by) && first {
		return FirstElsewhere
	}
	return NoNews
}

// ContactAnswered notes how a contact answered a question about a key.
func (s *Region) ContactAnswered(in event.ContactAnswered) {
	switch at, p := exchange.PlaceOf(in.Peer), string(in.Peer); {
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

// spareDepth is the depth of the parts of other ranges that have a spare contact each: a half of what most peers cover,
// and at most of what we do. A peer whose range is far wider than others has one for each half of a range as its own:
// there are too many smaller parts.
func (s *Region) spareDepth() int {
	if s.FarWider() {
		return s.depth + 1
	}
	return max(s.depth, s.usual) + 1
}

// similarContacts lists those like us beyond our range, the most similar first. Some of our like may not be known here,
// and most of those are known to one of the others.
func (s *Region) similarContacts() (out []Contact) {
	for _, e := range s.similar() {
		place := s.directory.Place(e)
		if s.Range().Contains(place) || e.Record().Envelope == nil || e.DialFails() > 0 {
			continue
		}
		depth, _ := s.depthOf(e)
		denials, right := s.contacts.Conduct(place, string(e.Peer()))
		out = append(out, Contact{
			Peer: string(e.Peer()), Record: e.Record().Envelope, Place: place, Depth: ContactDepth(depth),
			Denials: denials, Right: right, Role: Alike,
		})
	}
	return out
}

// lacks lists, for the next inquiry, the ranges in which somebody is to be named to us: one in each wide range in which
// we know nobody. Once there are none, or a few inquiries did not change them, there are besides a few wide ranges in
// which we know one alone. The second can wait, but not for a range that stays empty.
func (s *Region) lacks() space.Bitmap {
	depth := s.wideDepth()
	none := s.contacts.Lacks(1, depth)
	if s.emptyAsked++; none != s.empty {
		s.empty, s.emptyAsked = none, 1
	}
	var room, more [1 << wideRanges]space.Range // on the stack
	wide := slices.AppendSeq(room[:0], none.All())
	if len(wide) > 0 && s.emptyAsked <= emptyFirst {
		return s.someOf(wide)
	}
	few := s.contacts.Lacks(ContactsEach, depth)
	one := slices.DeleteFunc(slices.AppendSeq(more[:0], few.All()), func(r space.Range) bool { return none.Has(r.First()) })
	s.cfg.Rand.Shuffle(len(one), func(i, j int) { one[i], one[j] = one[j], one[i] })
	return s.someOf(append(wide, one[:min(len(one), secondContacts)]...))
}

// wideDepth is the depth of the ranges in each of which contacts are looked for beforehand. Those of all narrower ranges
// would cost more than most searches need: see wanted.go.
func (s *Region) wideDepth() int { return min(s.depth, wideRanges) }

// someOf draws, for each of some wide ranges, a range of our own depth in it without a contact. It adds those without a
// contact that this peer needs before others: near its own range, and where it looks for its like.
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

// lacksIn says whether an asker lacks a contact anywhere in a range that is no deeper than its own.
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
