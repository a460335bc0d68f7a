package overlay

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/summary"
)

// scope is the part of the network that this peer knows itself, and those it can ask about the rest. At depth 0 the
// part is everybody, and there is nobody to ask.
type scope struct {
	place    coverage.Place
	depth    int     // of the own range: what is outside is not wanted
	focus    int     // of the range that the line is for first; 0: for all alike
	sharp    int     // of the range in which few false matches are expected
	vouched  int     // of the range for which we can vouch
	size     float64 // origins in the whole network, by estimate
	nearest  []noted // the nearest of all ever heard of and not kept; at most nearestMost
	contacts *coverage.Contacts
	changed  bool // places came or went since the size was estimated
	outside  bool // there may be entries outside of the range with nothing held

	gossip  coverage.Gossip
	nextAsk time.Duration
	begun   time.Duration
	fitted  time.Duration            // when the depth last changed
	links   map[PeerID]time.Duration // when linked peers were last asked in a round of gossip; 0: never
	asked   map[PeerID]time.Duration // whose answers to inquiries are awaited, and since when
	wanted  map[PeerID][]uint64      // those of them who were asked for contacts, and the searches that wait for their answers
	seeker  seeker
	meeting meeting
	told    map[PeerID]summary.Epoch // who has our own summary by an inquiry; bounded
	served  int                      // inquiries answered in this second

	empty      []coverage.Range // without a contact at the last inquiry
	emptyAsked int              // inquiries in a row that asked for them
}

const (
	// nearestMost is how many places are remembered for the estimate of the network's size alone.
	nearestMost = 32
	// hearsay is how many times as many origins there may be by places heard of as by summaries held.
	hearsay = 2
	// fewVoices is how many links must say how large the network is before that counts. boast is how many times as
	// large as by own evidence it may be then.
	fewVoices = 3
	boast     = 8
	// apart is how many times as large a network may seem by own evidence as by the word of most links.
	apart = 1.125
	// filledTo is the part of the origins expected in a range that must be known for it to be vouched for.
	filledTo = 0.5
	// maxServed is how many inquiries are answered with names in a second.
	maxServed = 16
	// maxTold bounds the memory of peers that have our own summary.
	maxTold = 256
	// A peer with room for fewer than littleRoom origins takes only the part firstOrigins of it until it knows its
	// range. It could not keep what it fetched before.
	littleRoom   = 1024
	firstOrigins = 1.0 / 32
	// stillAfter is how long the depth stays and nobody is asked for peers nearer to us before it stands still. Links
	// into the range wait for that.
	stillAfter = 3 * time.Second
	// fewKnown is how many summaries must be held for their size to say what others take. Until then unknownMemory
	// bytes are assumed.
	fewKnown      = 4
	unknownMemory = 2400
	unknownWire   = 1600
	// freshWithin is the time within which the line must be able to carry the first parts of all origins of the range.
	// They come again about every half-hour, when an unchanged summary is published again.
	freshWithin = 10 * time.Minute
)

func newScope(self PeerID) scope {
	place := exchange.PlaceOf(self)
	return scope{
		place: place, vouched: coverage.MaxDepth, sharp: coverage.MaxDepth, contacts: coverage.NewContacts(place), told: map[PeerID]summary.Epoch{},
		links: map[PeerID]time.Duration{}, asked: map[PeerID]time.Duration{}, wanted: map[PeerID][]uint64{}, seeker: newSeeker(),
	}
}

// ownRange is what this peer covers, or means to.
func (o *Overlay) ownRange() coverage.Range { return coverage.Around(o.scope.place, o.scope.depth) }

// withinRange says whether entries are in the own range; nil if that is everybody.
func (o *Overlay) withinRange() func(*directory.Entry) bool {
	if o.scope.depth == 0 {
		return nil
	}
	return func(e *directory.Entry) bool { return o.ownRange().Contains(o.directory.Place(e)) }
}

// noted is the place of an origin that is not kept.
type noted struct {
	place  coverage.Place
	signed bool // something signed by it was held
}

// notes remembers the place of an origin heard of and not taken in, or not kept, if it is among the nearest.
func (s *scope) notes(p coverage.Place, signed bool) {
	if p == s.place {
		return
	}
	at, known := slices.BinarySearchFunc(s.nearest, p, func(a noted, b coverage.Place) int {
		return cmp.Compare(s.place.Distance(a.place), s.place.Distance(b))
	})
	switch {
	case known:
		s.changed = s.changed || signed && !s.nearest[at].signed
		s.nearest[at].signed = s.nearest[at].signed || signed
		return
	case at == nearestMost:
		return
	}
	s.nearest = slices.Insert(s.nearest, at, noted{p, signed})
	s.nearest = s.nearest[:min(len(s.nearest), nearestMost)]
	s.changed = true
}

// means is what there is for the own range: memory, a number of origins, and a line that repeatedly carries the first
// parts of all. What it carries of the further parts does not count. In a network small enough a peer on a slow line
// knows everybody a little. It asks those who know more, or has a focus (see focus.go).
func (o *Overlay) means() coverage.Means {
	memory, wire, n := o.directory.Average()
	if n < fewKnown {
		memory, wire = unknownMemory, unknownWire
	}
	return coverage.Means{
		Memory: float64(o.cfg.Memory), Origin: memory, Most: float64(o.cfg.MaxOrigins),
		Rate: o.exchange.LineIn(), Wire: wire, Fill: freshWithin.Seconds(),
	}
}

// slowStart says, when called for one new origin after another, whether no more are taken in until the range is known.
func (o *Overlay) slowStart(now time.Duration) func() bool {
	if !o.starting(now) {
		return func() bool { return false }
	}
	left := int(firstOrigins*float64(o.cfg.MaxOrigins)) - o.exchange.Asking()
	for _, e := range o.directory.Others() {
		if e != nil && e.Held() != nil {
			left--
		}
	}
	return func() bool { left--; return left < 0 }
}

// starting says whether the range of a peer with little room may soon be another.
func (o *Overlay) starting(now time.Duration) bool {
	return o.cfg.MaxOrigins < littleRoom && now-max(o.scope.begun, o.scope.fitted, o.scope.seeker.at) < stillAfter
}

// ownEstimate is how many origins there seem to be, by the places known near ours. Anybody can make up places, so those
// with nothing signed held count for little more than the others.
func (o *Overlay) ownEstimate() float64 {
	signed := make([]coverage.Place, 0, o.directory.Len()+nearestMost)
	var told []coverage.Place
	for _, n := range o.scope.nearest {
		if n.signed {
			signed = append(signed, n.place)
		} else {
			told = append(told, n.place)
		}
	}
	for _, e := range o.directory.Others() {
		switch {
		case e == nil || e.Covered():
		case e.Held() != nil || e.Record().Envelope != nil: // a signed record costs a liar an identity, as a summary does
			signed = append(signed, o.directory.Place(e))
		case e.State() == directory.Pending || e.State() == directory.Named:
			told = append(told, o.directory.Place(e))
		}
	}
	sure := 1 + coverage.Origins(o.scope.place, signed)
	return min(1+coverage.Origins(o.scope.place, append(signed, told...)), hearsay*sure)
}

// told is how many origins there are by the word of the links, as far as that is credible: more than half of them say
// at least so many, or at most so many. It is 0 while few say anything.
func (o *Overlay) told() (atLeast, atMost float64) {
	all := o.exchange.Networks()
	if len(all) < fewVoices {
		return 0, 0
	}
	atLeast, atMost = coverage.Median(all)
	return min(atLeast, boast*max(o.scope.size, float64(o.directory.Origins()))), atMost
}

// reckoned is how many origins there seem to be in all. A count of a few places may be a quarter off. So it counts for
// little more than most links say, unless that is far less. Half of the links cannot move it either way.
func (o *Overlay) reckoned() float64 {
	size := o.scope.size
	atLeast, atMost := o.told()
	if atMost > size/2 {
		size = min(size, float64(apart*atMost))
	}
	return max(size, atLeast)
}

// chooseDepth fits the own range to what there is for it.
func (o *Overlay) chooseDepth(now time.Duration) {
	s := &o.scope
	for _, p := range o.directory.Refused() {
		s.notes(p, false)
	}
	if !s.changed {
		return
	}
	s.changed = false
	s.size = o.ownEstimate()
	depth := coverage.Depth(s.depth, o.means(), o.reckoned())
	if depth == s.depth {
		return
	}
	s.depth, s.nextAsk, s.fitted = depth, now, now
	for _, c := range s.contacts.All() {
		s.notes(c.Place, true)
	}
	s.contacts.SetDepth(depth)
	for _, e := range o.directory.Others() {
		if e != nil {
			o.keepContact(e)
		}
	}
	s.outside = true
	o.directory.SetRange(o.ownRange())
	o.exchange.SetRange(o.ownRange())
	for _, p := range o.exchange.Linked() {
		o.hello(now, p, exchange.NoRecords)
	}
}

// forgetOutside forgets the peers outside of the range with nothing held, once the depth stands still. Those of use are
// contacts.
func (o *Overlay) forgetOutside(now time.Duration) {
	s := &o.scope
	if !s.outside || o.starting(now) {
		return
	}
	s.outside = false
	for _, e := range o.directory.Others() {
		if e == nil || e.Held() != nil || o.exchange.IsLinked(e.Peer()) || o.topology.IsNeighbour(e.Peer()) {
			continue
		}
		if p := o.directory.Place(e); !o.ownRange().Contains(p) {
			o.keepContact(e)
			s.notes(p, e.Record().Envelope != nil)
			o.directory.Remove(e.Index())
		}
	}
	o.pass()
}

// keepContact makes a contact of an entry's peer, if its range has place for one.
func (o *Overlay) keepContact(e *directory.Entry) {
	if e.Record().Envelope != nil && e.Peer() != "" && e.DialFails() == 0 {
		depth, said := o.depthOf(e)
		o.addContact(e.Record(), depth, !said)
	}
}

// depthOf is the depth of the range that an entry's peer covers. It is what the peer says if it is linked, covers more
// than we and knows about as many origins as it should. Else it is a guess: as ours.
func (o *Overlay) depthOf(e *directory.Entry) (depth int, said bool) {
	h, linked := o.exchange.Said(e.Peer())
	if linked && h.Depth < o.scope.depth && float64(h.Origins+1) >= filledTo*math.Ldexp(o.scope.size, -h.Depth) {
		return h.Depth, true
	}
	return o.scope.depth, false
}

func (o *Overlay) addContact(r Record, depth int, guessed bool) bool {
	if o.scope.depth == 0 || r.Peer == o.cfg.Self {
		return false
	}
	group := ""
	if o.cfg.Group != nil {
		group = o.cfg.Group(r)
	}
	return o.scope.contacts.Add(coverage.Contact{
		Peer: string(r.Peer), Record: o.directory.Keep(r.Envelope), Place: exchange.PlaceOf(r.Peer), Depth: depth, Group: group,
		Guessed: guessed,
	})
}

// keepToRoom forgets the entries that there is no room for. The peers are remembered as far as they are of use.
func (o *Overlay) keepToRoom() {
	o.directory.KeepToRoom(o.topology.IsNeighbour, func(e *directory.Entry) {
		if e.Held() != nil {
			o.scope.notes(o.directory.Place(e), true)
		}
		o.keepContact(e)
	})
	o.pass()
}

// Vouched is the depth of the widest range around this peer for which it can vouch. All origins of that range that it
// heard of are known, and they are not far fewer than there should be.
func (o *Overlay) Vouched() int { return o.scope.vouched }

// vouch works out for which range this peer can vouch.
func (o *Overlay) vouch() int {
	var held [coverage.MaxDepth + 1]int // by how many first bits they share with us
	depth := o.scope.depth
	for _, e := range o.directory.Others() {
		if e == nil || e.Gone() || e.Covered() {
			continue
		}
		shared := min(bits.LeadingZeros64(o.scope.place.Distance(o.directory.Place(e))), coverage.MaxDepth)
		if e.Held() != nil {
			held[shared]++
		} else if shared >= depth && e.DialFails() == 0 {
			depth = min(shared+1, coverage.MaxDepth)
		}
	}
	for shared := coverage.MaxDepth - 1; shared >= 0; shared-- {
		held[shared] += held[shared+1]
	}
	for depth < coverage.MaxDepth && o.scope.depth > 0 && float64(held[depth]+1) < filledTo*math.Ldexp(o.scope.size, -depth) {
		depth++
	}
	return depth
}

// Covers is the range for which this peer can vouch.
func (o *Overlay) Covers() coverage.Range { return coverage.Around(o.scope.place, o.Vouched()) }

// Contacts are the peers that can be asked about other ranges, in a fixed order. None at depth 0. After those chosen
// for it comes one other peer of each half of a range, if one is known. It counts for that half, and is asked for what
// those chosen leave over. Contacts that turn out deeper than they were said to be may all be of one half.
func (o *Overlay) Contacts() []coverage.Contact {
	out := o.scope.contacts.All()
	if o.scope.depth == 0 {
		return out
	}
	spare := map[coverage.Range]coverage.Contact{}
	for _, e := range o.directory.Others() {
		if e == nil || e.Covered() || e.Record().Envelope == nil || e.DialFails() > 0 || e.Refuted() {
			continue
		}
		place := o.directory.Place(e)
		c := coverage.Contact{
			Peer: string(e.Peer()), Record: e.Record().Envelope, Place: place, Depth: o.scope.depth + 1,
			Denials: o.scope.contacts.Denials(place, string(e.Peer())), Spare: true,
		}
		if _, chosen := o.scope.contacts.Get(place, c.Peer); chosen || c.Refuted() || o.ownRange().Contains(c.Place) {
			continue
		}
		at, some := spare[c.Range()]
		if !some || o.scope.place.Distance(c.Place) < o.scope.place.Distance(at.Place) {
			spare[c.Range()] = c
		}
	}
	for _, half := range slices.SortedFunc(maps.Keys(spare), func(a, b coverage.Range) int { return cmp.Compare(a.First(), b.First()) }) {
		out = append(out, spare[half])
	}
	return out
}

// comeBack has all links tell again what there was no room for, once there is room.
func (o *Overlay) comeBack(now time.Duration) {
	if !o.directory.Missed() {
		return
	}
	for _, p := range o.exchange.Linked() {
		o.hello(now, p, exchange.NoneAndAgain)
	}
}
