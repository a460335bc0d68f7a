package overlay

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/coverage"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/summary"
)

// In a large network hardly anybody whom a peer comes to know is like it, and gossip about the similar finds no
// beginning. So peers with keys in common meet. The least hash of a collection's keys names a place: two collections
// have the same with the probability of their resemblance (min-wise hashing: Broder 1997). A peer that lacks its like
// looks up who stands nearest to that place, by asking peers ever nearer to it. Whoever is asked remembers the asker
// for a while, and passes on the summaries of earlier visitors that are like it.

// meeting is the state of that: the lookup under way, and the visitors of this peer.
type meeting struct {
	place   coverage.Place  // that is looked up; 0: none is
	named   []located       // peers nearer to it than those who named them; at most meetNamed of each
	opened  int             // records of the last answer that were opened for that
	asked   map[PeerID]bool // in this lookup
	last    PeerID          // whom was asked last
	reached uint64          // distance from the place to the nearest peer that has answered, ourselves at first
	lookups int             // so far
	next    time.Duration   // no lookup begins before

	visitors []visitor // the latest last; at most maxVisitors
}

// visitor is a peer that asked here for its like.
type visitor struct {
	peer   PeerID
	place  coverage.Place
	prefix *summary.Prefix
	says   Introduction
	until  time.Duration
}

const (
	// fewAlike is the number of similar peers below which a peer looks for more at a meeting place. From there on
	// gossip is faster.
	fewAlike = 16
	// mostLookups is how many lookups a peer makes at most, and meetAgain the time between two: the first to come meet
	// nobody.
	mostLookups = 6
	meetAgain   = 10 * time.Second
	// mostHops is how many peers are asked in one lookup.
	mostHops = 4
	// meetNamed is how many peers nearer to a place are named to who looks it up.
	meetNamed = 3
	// maxVisitors and visitFor bound whom a peer remembers of those that asked here.
	maxVisitors = 64 // of two kilobytes or so
	visitFor    = 10 * time.Minute
)

// meet chooses whom to ask about the meeting place of our collection; ok is false when nobody is to be asked now.
func (o *Overlay) meet(now time.Duration, similar []*directory.Entry) (to Record, ok bool) {
	m := &o.scope.meeting
	if o.starting(now) || len(similar) >= fewAlike || m.lookups >= mostLookups || now < m.next || o.scope.asked[m.last] {
		return to, false
	}
	if m.place == 0 && !o.beginLookup() {
		return to, false
	}
	best := located{}
	least := m.reached
	consider := func(l located) {
		if d := m.place.Distance(l.place); d < least && !m.asked[l.Record.Peer] {
			best, least = l, d
		}
	}
	for l := range o.askable() {
		consider(l)
	}
	for _, l := range m.named {
		consider(l)
	}
	if best.Record.Peer == "" || len(m.asked) >= mostHops {
		m.place, m.next = 0, now+meetAgain
		m.lookups++
		return to, false
	}
	m.asked[best.Record.Peer], m.last = true, best.Record.Peer
	return best.Record, true
}

// beginLookup begins to look up a meeting place. It is false while nothing is published.
func (o *Overlay) beginLookup() bool {
	m := &o.scope.meeting
	least, ok := o.cfg.Sample(o.Own()).Least(m.lookups % 2)
	if !ok {
		return false
	}
	m.place, m.named, m.asked, m.last = coverage.Place(max(least, 1)), nil, map[PeerID]bool{}, ""
	m.reached = m.place.Distance(o.scope.place)
	return true
}

// meetNamed takes in a peer that was named by another, if it is nearer to the place that is looked up. An answer names
// such peers first, so what comes after the first few is not opened.
func (o *Overlay) meetNamed(from PeerID, r Record) {
	m := &o.scope.meeting
	if m.place == 0 || from != m.last || m.opened >= meetNamed {
		return
	}
	l := located{Named{Record: r}, exchange.PlaceOf(r.Peer)}
	if m.place.Distance(l.place) >= m.reached || r.Peer == o.cfg.Self {
		return
	}
	m.opened++
	if p, err := o.cfg.OpenRecord(r.Envelope); err == nil && p == r.Peer {
		m.named = append(m.named, l)
	}
}

// meetAnswered notes that a peer has answered about the place that is looked up, before the peers that it names.
func (o *Overlay) meetAnswered(from PeerID) {
	m := &o.scope.meeting
	if m.place != 0 && from == m.last {
		m.reached, m.opened = min(m.reached, m.place.Distance(exchange.PlaceOf(from))), 0
	}
}

// nearerThanWe names peers nearer to a place than we are, to who looks it up.
func (o *Overlay) nearerThanWe(place coverage.Place, from PeerID) (nearer []Named) {
	own := place.Distance(o.scope.place)
	for _, l := range nearest(place, o.askable(), meetNamed) {
		if l.Record.Peer != from && place.Distance(l.place) < own {
			nearer = append(nearer, l.Named)
		}
	}
	return nearer
}

// visit remembers a peer that asked here for its like, if its summary is known.
func (o *Overlay) visit(now time.Duration, from PeerID) {
	e := o.directory.Lookup(from)
	if e == nil || e.Old() {
		return
	}
	says, ok := introduction(e)
	if !ok {
		return
	}
	known := e.Newest().Truncate(len(says.Run.Parts)) // more of it would take memory that nobody counts
	m := &o.scope.meeting
	m.visitors = slices.DeleteFunc(m.visitors, func(v visitor) bool { return v.peer == from || now >= v.until })
	if len(m.visitors) >= maxVisitors {
		m.visitors = slices.Delete(m.visitors, 0, 1)
	}
	m.visitors = append(m.visitors, visitor{from, exchange.PlaceOf(from), known, says, now + visitFor})
}
