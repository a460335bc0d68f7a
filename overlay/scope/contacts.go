package scope

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
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
func (s *Scope) Keep(e *directory.Entry) {
	if e.Record().Envelope != nil && e.Peer() != "" && e.DialFails() == 0 {
		depth, said := s.depthOf(e)
		switch {
		case !said:
			s.addContact(e.Record(), depth, coverage.ByGuess)
		case depth <= s.depth-coverage.FarWider:
			s.addContact(e.Record(), depth, coverage.ByItself)
		default: // its range may soon be as ours
			s.addContact(e.Record(), depth, coverage.ByHearsay)
		}
	}
}

// FarWider says whether the own range is far wider than those of most linked peers. It is not as long as it may soon be
// another.
func (s *Scope) FarWider() bool { return s.usual >= s.depth+coverage.FarWider && !s.Starting(s.now) }

// Parts is the depth of the ranges, a part of the own one each, that a peer whose range is far wider than others needs
// links into; 0: it is not.
func (s *Scope) Parts() int {
	if !s.FarWider() {
		return 0
	}
	return min(s.usual, s.depth+coverage.MaxBits)
}

// Wider says whether a peer covers far more than we, and knows more than twice as many origins as there are in our range:
// a peer that has just begun does not know its range yet.
func (s *Scope) Wider(h event.Hello) bool {
	return h.Depth <= s.depth-coverage.FarWider && float64(h.Origins) > 2*max(1, math.Ldexp(s.size, -s.depth))
}

// depthOf is the depth of the range that an entry's peer covers. It is what the peer says if it is linked, covers more
// than others and knows about as many origins as it should. Else it is a guess: as ours, or as that of most if ours is
// far wider.
func (s *Scope) depthOf(e *directory.Entry) (depth int, said bool) {
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

func (s *Scope) addContact(r event.Record, depth int, by coverage.Word) bool {
	if s.depth == 0 || r.Peer == s.cfg.Self {
		return false
	}
	var group coverage.Group
	if s.cfg.Group != nil {
		group = coverage.GroupOf(s.cfg.Group(r))
	}
	return s.contacts.Add(coverage.Contact{
		Peer: string(r.Peer), Record: s.directory.Keep(r.Envelope), Place: exchange.PlaceOf(r.Peer),
		Depth: coverage.ContactDepth(depth), Word: by, Group: group,
	})
}

// Contacts lists the contacts, see package overlay.
func (s *Scope) Contacts() []coverage.Contact {
	out := s.contacts.All()
	if s.depth == 0 {
		return out
	}
	spare, depth := map[coverage.Range]coverage.Contact{}, s.spareDepth()
	for _, e := range s.directory.Others() {
		if e == nil || e.Covered() || e.Record().Envelope == nil || e.DialFails() > 0 || e.Refuted() {
			continue
		}
		place := s.directory.Place(e)
		denials, right := s.contacts.Conduct(place, string(e.Peer()))
		c := coverage.Contact{
			Peer: string(e.Peer()), Record: e.Record().Envelope, Place: place, Depth: coverage.ContactDepth(depth),
			Denials: denials, Right: right, Role: coverage.Spare,
		}
		if _, chosen := s.contacts.Get(place, c.Peer); chosen || c.Refuted() || s.Range().Contains(c.Place) {
			continue
		}
		at, some := spare[c.Range()]
		if !some || s.place.Distance(c.Place) < s.place.Distance(at.Place) {
			spare[c.Range()] = c
		}
	}
	for _, half := range slices.SortedFunc(maps.Keys(spare), func(a, b coverage.Range) int { return cmp.Compare(a.First(), b.First()) }) {
		out = append(out, spare[half])
	}
	return append(out, s.similarContacts()...)
}

// ContactBytes is the size of the records of contacts that the directory does not hold.
func (s *Scope) ContactBytes() (bytes int) {
	for c := range s.contacts.Each() {
		if e := s.directory.Lookup(event.PeerID(c.Peer)); e == nil || e.Record().Envelope == nil {
			bytes += len(c.Record)
		}
	}
	return bytes
}

// Elsewhere takes in a peer of another range that somebody names. It says what that is worth.
func (s *Scope) Elsewhere(now time.Duration, n event.Named) News {
	first := s.contacts.Empty(coverage.Around(exchange.PlaceOf(n.Record.Peer), s.wideDepth()))
	depth, by := n.Depth, coverage.ByHearsay
	if s.Starting(now) { // others look for their depth, too: it is taken to be as ours
		depth, by = s.depth, coverage.ByGuess
	}
	if s.addContact(n.Record, depth, by) && first {
		return FirstElsewhere
	}
	return NoNews
}

// ContactAnswered notes how a contact answered a question about a key.
func (s *Scope) ContactAnswered(in event.ContactAnswered) {
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
func (s *Scope) spareDepth() int {
	if s.FarWider() {
		return s.depth + 1
	}
	return max(s.depth, s.usual) + 1
}

// similarContacts lists those like us beyond our range, the most similar first. Some of our like may not be known here,
// and most of those are known to one of the others.
func (s *Scope) similarContacts() (out []coverage.Contact) {
	for _, e := range s.similar() {
		place := s.directory.Place(e)
		if s.Range().Contains(place) || e.Record().Envelope == nil || e.DialFails() > 0 {
			continue
		}
		depth, _ := s.depthOf(e)
		denials, right := s.contacts.Conduct(place, string(e.Peer()))
		out = append(out, coverage.Contact{
			Peer: string(e.Peer()), Record: e.Record().Envelope, Place: place, Depth: coverage.ContactDepth(depth),
			Denials: denials, Right: right, Role: coverage.Alike,
		})
	}
	return out
}

// lacks lists, for the next inquiry, the ranges in which somebody is to be named to us: one in each wide range in which
// we know nobody. Once there are none, or a few inquiries did not change them, there are besides a few wide ranges in
// which we know one alone. The second can wait, but not for a range that stays empty.
func (s *Scope) lacks() coverage.Bitmap {
	depth := s.wideDepth()
	none := s.contacts.Lacks(1, depth)
	if s.emptyAsked++; none != s.empty {
		s.empty, s.emptyAsked = none, 1
	}
	var room, more [1 << wideRanges]coverage.Range // on the stack
	wide := slices.AppendSeq(room[:0], none.All())
	if len(wide) > 0 && s.emptyAsked <= emptyFirst {
		return s.someOf(wide)
	}
	few := s.contacts.Lacks(coverage.ContactsEach, depth)
	one := slices.DeleteFunc(slices.AppendSeq(more[:0], few.All()), func(r coverage.Range) bool { return none.Has(r.First()) })
	s.cfg.Rand.Shuffle(len(one), func(i, j int) { one[i], one[j] = one[j], one[i] })
	return s.someOf(append(wide, one[:min(len(one), secondContacts)]...))
}

// wideDepth is the depth of the ranges in each of which contacts are looked for beforehand. Those of all narrower ranges
// would cost more than most searches need: see wanted.go.
func (s *Scope) wideDepth() int { return min(s.depth, wideRanges) }

// someOf draws, for each of some wide ranges, a range of our own depth in it without a contact. It adds those without a
// contact that this peer needs before others: near its own range, and where it looks for its like.
func (s *Scope) someOf(wide []coverage.Range) coverage.Bitmap {
	depth := min(s.depth, coverage.MaxBits)
	if depth == s.wideDepth() {
		return coverage.NewBitmap(depth, wide...)
	}
	out, empty := coverage.NewBitmap(depth), s.contacts.Lacks(1, depth)
	for _, w := range wide {
		in := empty.Within(w)
		if n := in.Len(); n > 0 {
			out.Add(in.Nth(s.cfg.Rand.IntN(n)))
		}
	}
	out.Or(empty.Within(coverage.Around(s.place, s.wideDepth())))
	for _, at := range s.meetingPlaces() {
		if empty.Has(at) {
			out.Add(coverage.Around(at, depth))
		}
	}
	return out
}

// lacksIn says whether an asker lacks a contact anywhere in a range that is no deeper than its own.
func lacksIn(q event.Inquiry, r coverage.Range) bool {
	depth := min(q.Depth, coverage.MaxBits)
	first := int(uint64(r.First()) >> (64 - depth))
	for i := first; i < first+1<<(depth-r.Depth()); i++ {
		if q.Lacks[i/8]&(0x80>>(i%8)) != 0 {
			return true
		}
	}
	return false
}
