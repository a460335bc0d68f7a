package region

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Config holds the parameters of a [Region]. All but Group and Visitors are required. Package overlay has the defaults.
type Config struct {
	Self       wire.PeerID
	Memory     int                                        // bytes that the directory may take
	MaxOrigins int                                        // origins that it may know
	Group      func(wire.Record) string                   // names the address group of a record; nil: there are no groups
	OpenRecord func(envelope []byte) (wire.PeerID, error) // verifies a record
	Rand       *rand.Rand                                 // the only source of randomness
	Visitors   int                                        // visitors remembered at a time; 0: 64
}

// Region is the machine. Make one with [New]; the zero value is not usable. It is not safe for concurrent use.
type Region struct {
	cfg       Config
	directory *directory.Directory // only read, like the exchange
	exchange  *exchange.Exchange
	now       time.Duration // time of the step

	place    space.Place
	depth    int     // depth of our range; origins outside are not wanted
	usual    int     // depth of the ranges of most linked peers, at least our own
	carried  int     // depth of the range that sets the focus, see focus.go; 0: there is no focus
	seen     survey  // result of the last survey of all entries
	size     float64 // origins in the whole network, by estimate
	nearest  []noted // the nearest places of origins heard of and not kept; at most nearestMost
	contacts *Contacts
	spare    spare // spare contacts, as last chosen
	changed  bool  // places came or went since the size was estimated
	outside  bool  // there may be entries outside of the range with nothing held

	gossip  Gossip
	due     agenda.Agenda
	begun   time.Duration           // when the node started
	fitted  time.Duration           // when the depth last changed
	awaited map[wire.PeerID]inquiry // inquiries whose answers are awaited, by peer
	seeker  seeker
	meeting meeting
	told    map[wire.PeerID]summary.Epoch // peers that got our own summary by an inquiry; bounded
}

// The tasks that are done only when due.
const (
	dueInquiry  = iota // a peer may be asked
	dueUnlinked        // a seeking peer may ask a peer to which it has no connection
	dueTasks           // number of tasks
)

const (
	// nearestMost is the number of places remembered only to estimate the network's size.
	nearestMost = space.Countable
	// apart is the factor by which the estimate from our own evidence may exceed the word of most links. With twice the
	// excess, the contacts of 100 peers leave 227 of 10,000 pairs uncovered, where they leave 175 (TestContacts).
	apart = 1.125
	// filledTo is the part of the expected origins of a range that must be known for the range to be vouched for.
	filledTo = bound.Half
	// maxMet caps the peers that are remembered to have our own summary, and those met while seeking.
	maxMet = bound.Many
	// A peer with room for fewer than littleRoom origins fetches only exchange.FewOrigins of them until it knows its
	// range: enough for their mean sizes. It could not keep all that it would have fetched by then.
	littleRoom = bound.Many
	// Settled is the time without news after which what comes first is in: the range stands still if its depth has not
	// changed and nobody was asked for nearer peers; the samples are in if no origin is new. Choices wait for it.
	Settled = agenda.Patience
	// freshWithin is the time in which the line must be able to carry the first parts of all origins of the range. They
	// come again about every half-hour, when an unchanged summary is published again.
	freshWithin = agenda.Faded
)

// New returns a region at depth 0, without contacts, beside a directory and an exchange.
func New(cfg Config, d *directory.Directory, x *exchange.Exchange) *Region {
	cfg.Visitors = cmp.Or(cfg.Visitors, maxVisitors)
	place := cfg.Self.Place()
	return &Region{
		cfg: cfg, directory: d, exchange: x,
		place: place, seen: survey{vouched: space.MaxDepth, precise: space.MaxDepth}, contacts: NewContacts(place), told: map[wire.PeerID]summary.Epoch{},
		awaited: map[wire.PeerID]inquiry{}, seeker: newSeeker(), due: agenda.New(dueTasks),
	}
}

// own returns our own summary; nil before the first is published.
func (s *Region) own() *summary.Prefix { return s.directory.Own().Held() }

// At sets the time of the step.
func (s *Region) At(now time.Duration) { s.now = now }

// Begin sets the time at which the node started.
func (s *Region) Begin(now time.Duration) { s.begun = now }

// Changed notes that places came or went, so that the next Fit estimates the size again.
func (s *Region) Changed() { s.changed = true }

// Hear notes that a linked peer has said hello.
func (s *Region) Hear(now time.Duration, p wire.PeerID) {
	s.changed = true
	if e := s.directory.Lookup(p); e != nil && !s.Starting(now) {
		if _, said := s.depthOf(e); said {
			s.Keep(e) // it covers more than we do: a search asks it first
		}
	}
}

// Depth returns the depth of our range.
func (s *Region) Depth() int { return s.depth }

// Size returns the estimated number of origins in the whole network.
func (s *Region) Size() float64 { return s.size }

// Range returns the range that this peer covers, or is about to.
func (s *Region) Range() space.Range { return space.Around(s.place, s.depth) }

// Within returns a function that reports whether an entry is in our range; nil if the range is everybody.
func (s *Region) Within() func(*directory.Entry) bool {
	if s.depth == 0 {
		return nil
	}
	return func(e *directory.Entry) bool { return s.Range().Contains(s.directory.Place(e)) }
}

// noted is the place of an origin that is not kept.
type noted struct {
	place  space.Place
	signed bool          // something signed by it was held
	at     time.Duration // when it was last heard of
}

// forgetHearsay forgets the places that rest on somebody's word alone and that nobody has repeated within an hour. An
// origin that is still there publishes again by then.
func (s *Region) forgetHearsay() {
	kept := slices.DeleteFunc(s.nearest, func(n noted) bool { return !n.signed && s.now >= n.at+agenda.Longest })
	s.changed = s.changed || len(kept) < len(s.nearest)
	s.nearest = kept
}

// Note remembers the place of an origin that was heard of but not kept, if it is among the nearest. signed is set if
// something signed by the origin was held.
func (s *Region) Note(p space.Place, signed bool) {
	if p == s.place {
		return
	}
	at, known := slices.BinarySearchFunc(s.nearest, p, func(a noted, b space.Place) int {
		return cmp.Compare(s.place.Distance(a.place), s.place.Distance(b))
	})
	switch {
	case known:
		s.changed = s.changed || signed && !s.nearest[at].signed
		s.nearest[at].signed, s.nearest[at].at = s.nearest[at].signed || signed, s.now
		return
	case at == nearestMost:
		return
	}
	s.nearest = slices.Insert(s.nearest, at, noted{p, signed, s.now})
	s.nearest = s.nearest[:min(len(s.nearest), nearestMost)]
	s.changed = true
}

// means returns the means for our range: memory, a number of origins, and a line that must carry the first parts of all
// its origins within freshWithin. An origin is assumed to take the mean of those held, or what is usual while fewer
// than exchange.FewOrigins are held. Further parts do not count. In a network small enough, a peer on a slow line knows
// the first parts of all summaries. It asks peers that know more, or has a focus (see focus.go).
func (s *Region) means() Means {
	memory, line, n := s.directory.Average()
	if n < exchange.FewOrigins {
		memory, line = directory.FirstBytes(wire.MaxEnvelope, summary.DefaultShape(1).SampleBytes)
	}
	return Means{
		Memory: directory.OriginShare * float64(s.cfg.Memory), Origin: memory, Most: float64(s.cfg.MaxOrigins),
		Rate: s.exchange.LineIn(), Wire: line, Fill: freshWithin.Seconds(),
	}
}

// SlowStart returns a function to call once for each new origin; true means that the origin must not be asked for.
// While the range may still change, exchange.FewOrigins may be held and asked for.
func (s *Region) SlowStart(now time.Duration) func() bool {
	if !s.Starting(now) {
		return func() bool { return false }
	}
	left := exchange.FewOrigins - s.exchange.Asking()
	for _, e := range s.directory.Others() {
		if e != nil && e.Held() != nil {
			left--
		}
	}
	return func() bool { left--; return left < 0 }
}

// Starting reports whether the range of a peer with little room may soon change.
func (s *Region) Starting(now time.Duration) bool {
	return s.directory.UnlinkedCapacity() < littleRoom && now-max(s.begun, s.fitted, s.seeker.at) < Settled
}

// ownEstimate returns the number of origins estimated from the places known near ours. Anybody can make up places, so
// places without anything signed can at most double the estimate from the others.
func (s *Region) ownEstimate() float64 {
	var signed, told []space.Place
	for _, n := range s.nearest {
		if n.signed {
			signed = append(signed, n.place)
		} else {
			told = append(told, n.place)
		}
	}
	for _, e := range s.directory.Others() {
		switch {
		case e == nil || e.Covered() || s.directory.Invented(e):
		case e.Held() != nil || e.Record().Envelope != nil: // a signed record costs a liar an identity, as a summary does
			signed = append(signed, s.directory.Place(e))
		case e.State() == directory.Pending || e.State() == directory.Named:
			told = append(told, s.directory.Place(e))
		}
	}
	sure := 1 + space.Origins(s.place, signed)
	return min(1+space.Origins(s.place, append(signed, told...)), 2*sure)
}

// wordOfLinks returns a number by the word of the links: at least half of them state atLeast or more in their hellos,
// and at least half atMost or less. Both are 0 while few state the number.
func (s *Region) wordOfLinks(number func(wire.Hello) (n int, stated bool)) (atLeast, atMost float64) {
	var all []float64
	for _, l := range s.directory.Links() {
		if n, stated := number(l.Hello); l.Heard && stated {
			all = append(all, float64(n))
		}
	}
	return space.Median(all)
}

// reckoned returns the number of origins assumed in the whole network. It is our own estimate, raised to what at least
// half of the links state, unless that is far more than our evidence. It is lowered to apart times what most of them
// state at most, as a count of a few places may be a quarter off, unless that is at most half of the estimate. Half of
// the links cannot move it either way.
func (s *Region) reckoned() float64 {
	size := s.size
	atLeast, atMost := s.wordOfLinks(func(h wire.Hello) (int, bool) { return h.Network, h.Network > 0 })
	atLeast = min(atLeast, math.Ldexp(max(s.size, float64(s.directory.Origins())), FarWider))
	if atMost > size/2 {
		size = min(size, float64(apart*atMost))
	}
	return max(size, atLeast)
}

// Fit fits our range to the means. It reports whether the depth changed.
func (s *Region) Fit(now time.Duration) bool {
	if !s.changed {
		return false
	}
	s.changed = false
	s.size = s.ownEstimate()
	means := s.means()
	s.directory.SetRoom(int(means.Memory / means.Origin))
	depth := Depth(s.depth, means, s.reckoned())
	if depth == s.depth {
		return false
	}
	s.depth, s.fitted = depth, now
	s.due.By(dueInquiry, now)
	for _, c := range s.contacts.All() {
		s.Note(c.Place, true)
	}
	s.contacts.SetDepth(depth)
	for _, e := range s.directory.Others() {
		if e != nil {
			s.Keep(e)
		}
	}
	s.outside = true
	return true
}

// Settled returns true once after each change of the depth, when the range stands still. Then peers outside of the
// range, without anything held of them, can be forgotten.
func (s *Region) Settled(now time.Duration) bool {
	if !s.outside || s.Starting(now) {
		return false
	}
	s.outside = false
	return true
}

// expected returns the number of origins in the whole network by which our range is vouched for. If our range is far
// wider than others, the places near us tell little, so it is the reckoned number.
func (s *Region) expected() float64 {
	if s.FarWider() {
		return s.reckoned()
	}
	return s.size
}
