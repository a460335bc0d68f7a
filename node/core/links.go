package core

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
)

// Links keeps account of the connections that a peer made, and of its links. It decides which of them a peer may have,
// and which gives way; a driver carries that out. It ignores the other connections of the driver's host. P is the
// driver's type of peer ids.
//
// A connection that the peer made is its own, and so is one on which it wanted the link, or of a peer that it dials. A
// link on any other connection is called taken. Own connections and links taken stand within one limit. At most half of
// it may be links taken, so that no other peer can keep this one from dialling. Neighbours and pubsub's mesh keep three
// quarters of that half, and newcomers find room in the rest: see [Links.Link]. Each decision looks at all connections
// and links, which are some ten. It is safe for concurrent use.
type Links[P ~string] struct {
	mu      sync.Mutex
	most    int // most own connections and links taken together
	share   int // most links taken
	kept    int // most links taken that neighbours and the mesh keep from newcomers
	peers   map[P]*conn
	dialing map[P]*dial
	peak    int // most own connections and links taken at a time so far
}

// dial describes the dials under way to one peer.
type dial struct {
	under         int  // number of these dials
	questionsOnly bool // the dials are only for questions
}

// conn is a connection that the peer made, or a connection with a link on it.
type conn struct {
	made          bool // this peer made the connection
	wanted        bool // this peer asked for the link
	link          bool
	path          []string // of a link's peer, as a principal
	questionsOnly bool     // the connection serves only questions and becomes no link
	needed        bool     // the peer is a neighbour
	mesh          bool     // the peer is in pubsub's mesh
	fresh         bool     // no stream has used it yet
	busy          int      // number of open streams on it
	used          time.Duration
	linked        time.Duration // when the link began
}

// Connections is the default limit of own connections and links taken together.
const Connections = 32

const (
	idleLife = 30 * time.Second // most idle time of a link, or of a connection made, that nothing needs
	// questionLife replaces idleLife for a connection that serves only questions: its other end cannot refuse it.
	questionLife = 2 * time.Second
	freshLife    = 500 * time.Millisecond // time that a new connection has to be used for the first time
	leastStay    = 2 * time.Second        // least age of a taken link that gives way to a newcomer
)

// NewLinks returns an account for at most most own connections and links taken; most must be 4 or more. Half of them
// may be links taken.
func NewLinks[P ~string](most int) *Links[P] {
	share := most / 2
	kept := share - max(1, share/4)
	return &Links[P]{most: most, share: share, kept: kept, peers: map[P]*conn{}, dialing: map[P]*dial{}}
}

// worth ranks connections: the one with the lowest worth gives way first.
func (c *conn) worth() int {
	switch {
	case c.needed:
		return 3
	case c.mesh:
		return 2
	case c.link:
		return 1
	}
	return 0
}

// mayGo returns false for a connection that is in use, just made, or of a neighbour.
func (c *conn) mayGo(now time.Duration) bool {
	return !c.needed && c.busy == 0 && (!c.fresh || now-c.used >= freshLife)
}

// stale reports whether nothing needs the connection, and no stream has used it for too long.
func (c *conn) stale(now time.Duration) bool {
	life := idleLife
	if c.questionsOnly {
		life = questionLife
	}
	return c.mayGo(now) && !c.mesh && now-c.used > life
}

// own reports whether the connection to p counts as this peer's own. There must be one.
func (t *Links[P]) own(p P) bool {
	c := t.peers[p]
	return c.made || c.wanted || t.dialing[p] != nil
}

// counts returns the numbers of own connections, and of links taken.
func (t *Links[P]) counts() (own, taken int) {
	for p := range t.peers {
		if t.own(p) {
			own++
		} else {
			taken++
		}
	}
	return own, taken
}

// Counts returns the numbers of own connections and of links taken.
func (t *Links[P]) Counts() (own, taken int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts()
}

// Evicted names a peer whose connection or link gave way to another.
type Evicted[P ~string] struct {
	Peer P    // "": nobody gave way
	Made bool // this peer had made the connection
}

// Dial reports whether there is room for one more connection, to p. If so, Dialed must be called when the dial has
// ended. Beyond the limit there is still room if enough connections may give way: one for each connection being made
// beyond the limit.
func (t *Links[P]) Dial(p P, questionsOnly bool, now time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.dialing[p]; d != nil {
		d.under++
		d.questionsOnly = d.questionsOnly && questionsOnly
		return true
	}
	over := len(t.peers) + 1 - t.most
	for q := range t.dialing {
		if t.peers[q] == nil {
			over++
		}
	}
	if over > 0 && over > t.spare(now) {
		return false
	}
	t.dialing[p] = &dial{under: 1, questionsOnly: questionsOnly}
	return true
}

// spare returns the number of connections that may give way to dials.
func (t *Links[P]) spare(now time.Duration) (n int) {
	for p, c := range t.peers {
		if t.own(p) && c.mayGo(now) {
			n++
		}
	}
	if _, ok := t.yielding(admission.Principal{}, now); ok {
		n++
	}
	return n
}

// yielding returns the peer whose taken link gives way to a newcomer; ok is false if none does. A link younger than two
// seconds stays. If networks are known, a link stays whose network has no more links than the newcomer's, of the widest
// in which they differ. If the largest network has at least two more, the youngest of its least important links goes:
// see [admission.Crowd]. Else the oldest kept links of neighbours, and then of the mesh, stay. Of the other links,
// those not in use go first, and of these the longest unused. O(n log n).
func (t *Links[P]) yielding(newcomer admission.Principal, now time.Duration) (p P, ok bool) {
	taken, of := t.takenByRank()
	to := newcomer.Path()
	n := 0
	for n < min(t.kept, len(taken)) && (t.peers[taken[n]].needed || t.peers[taken[n]].mesh) {
		n++
	}
	stays := func(p P) bool {
		c := t.peers[p]
		return now-c.linked < leastStay || newcomer.Group != "" && of.Over(c.path, to) < 1
	}
	if newcomer.Group != "" {
		crowd := admission.Crowd(of, taken, func(p P) []string { return t.peers[p].path }, to, 2)
		if crowd = slices.DeleteFunc(crowd, stays); len(crowd) > 0 {
			return crowd[len(crowd)-1], true
		}
	}
	may := slices.DeleteFunc(taken[n:], stays)
	if len(may) == 0 {
		return "", false
	}
	return slices.MinFunc(may, func(p, q P) int {
		a, b := t.peers[p], t.peers[q]
		return cmp.Or(min(a.busy, 1)-min(b.busy, 1), cmp.Compare(a.used, b.used), cmp.Compare(p, q))
	}), true
}

// takenByRank returns the peers of the links taken, neighbours first, then the mesh, and in each rank the oldest link
// first. of counts the links of each network.
func (t *Links[P]) takenByRank() (taken []P, of admission.Census) {
	of = admission.Census{}
	for p, c := range t.peers {
		if !t.own(p) {
			taken = append(taken, p)
			of.Count(c.path, 1)
		}
	}
	slices.SortFunc(taken, func(p, q P) int {
		a, b := t.peers[p], t.peers[q]
		return cmp.Or(cmp.Compare(b.worth(), a.worth()), cmp.Compare(a.linked, b.linked), cmp.Compare(p, q))
	})
	return taken, of
}

// Dialed records that a dial has ended, and whether it made a connection. If the limit is exceeded then, it returns
// the connection or link that gives way. Nothing gives way to a failed dial, because false addresses cost a liar
// nothing.
func (t *Links[P]) Dialed(p P, success bool, now time.Duration) (evict Evicted[P]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.dialing[p]
	if success {
		evict, _ = t.add(p, &conn{made: true, questionsOnly: d.questionsOnly, fresh: true}, "", now)
	}
	if d.under--; d.under > 0 {
		return evict
	}
	delete(t.dialing, p)
	if c := t.peers[p]; c != nil && !t.own(p) {
		return t.excess(p, now)
	}
	return evict
}

// excess returns the link that gives way if more links than their share are taken, since p's now counts among them.
func (t *Links[P]) excess(p P, now time.Duration) (evict Evicted[P]) {
	if _, taken := t.counts(); taken <= t.share {
		return Evicted[P]{}
	}
	q, ok := t.yielding(admission.Principal{}, now)
	if !ok {
		q = p
	}
	delete(t.peers, q)
	return Evicted[P]{q, false}
}

// add adds a connection to p, unless there is one, and returns whose connection or link gives way. ok is false, and
// nothing is added, if none does.
func (t *Links[P]) add(p P, c *conn, group string, now time.Duration) (evict Evicted[P], ok bool) {
	if has := t.peers[p]; has != nil {
		has.made, has.wanted = has.made || c.made, has.wanted || c.wanted
		return Evicted[P]{}, true
	}
	granted := t.dialing[p] != nil
	evict, ok = t.instead(admission.Principal{Peer: string(p), Group: group}, c.wanted || granted, granted, now)
	if !ok {
		return Evicted[P]{}, false
	}
	delete(t.peers, evict.Peer)
	c.used = now
	t.peers[p] = c
	t.peak = max(t.peak, len(t.peers))
	return evict, true
}

// instead returns the connection or link that gives way to a newcomer, "" while there is room; ok is false if none does.
// The least worthy own connection goes first. If none may go, a link taken goes, by the rule of yielding. In the other
// order, the peer would make ever more connections, because new links taken would replace the links that gave way. An own
// link gives way to a link taken only if no other link taken does, and while those have less than their share. A dial was
// granted before it began. If all connections came into use since, the least worthy own one goes although it is in use.
func (t *Links[P]) instead(newcomer admission.Principal, own, granted bool, now time.Duration) (evict Evicted[P], ok bool) {
	_, taken := t.counts()
	within := own || taken < t.share
	if within && len(t.peers) < t.most {
		return Evicted[P]{}, true
	}
	if own {
		newcomer.Group = ""
	}
	least, idle := t.least(now)
	if idle = idle && within; idle && (own || !t.peers[least].link) {
		return Evicted[P]{least, t.peers[least].made}, true
	}
	if q, ok := t.yielding(newcomer, now); ok {
		return Evicted[P]{q, false}, true
	}
	if !idle && !granted || t.peers[least] == nil { // without own connections, none gives way
		return Evicted[P]{}, false
	}
	return Evicted[P]{least, t.peers[least].made}, true
}

// QuestionsOnly reports whether the connection or dial to p that this peer made serves only questions, so that no link
// is made of it.
func (t *Links[P]) QuestionsOnly(p P) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.peers[p]
	d := t.dialing[p]
	return d != nil && d.questionsOnly || c != nil && c.questionsOnly
}

// Link records a link on the connection to p, if there is room. If this peer asked for the link, wanted is true, and the
// link stands with its own connections. group names p's networks, as in package admission. Link returns the connection or
// link that gives way, if any. Of links taken, only those that have lasted for two seconds do so. Neighbours and the mesh
// keep three quarters of the places. But if a network has at least two more links than p's, one of its links gives way,
// even a neighbour's. So each place in the last quarter, one at least, takes a newcomer every two seconds.
func (t *Links[P]) Link(p P, group string, wanted bool, now time.Duration) (evict Evicted[P], ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if evict, ok = t.add(p, &conn{wanted: wanted}, group, now); !ok {
		return evict, false
	}
	c := t.peers[p]
	if !c.link {
		c.linked = now
	}
	c.link, c.questionsOnly, c.fresh = true, false, false
	c.path = admission.Principal{Peer: string(p), Group: group}.Path()
	return evict, true
}

// Unlink records that the connection to p no longer carries a link.
func (t *Links[P]) Unlink(p P) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.peers[p]
	if c == nil {
		return
	}
	c.link, c.needed, c.mesh = false, false, false
	if !c.made {
		delete(t.peers, p)
	}
}

// SetQuestionsOnly records that the connection to p serves only questions, because its other end refused a link.
func (t *Links[P]) SetQuestionsOnly(p P) { t.set(p, func(c *conn) { c.questionsOnly = true }) }

// Closed records that there is no connection to p, or that the connection is no longer the peer's.
func (t *Links[P]) Closed(p P) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.peers, p)
}

// Made reports whether this peer made the connection to p.
func (t *Links[P]) Made(p P) bool { return t.is(p, func(c *conn) bool { return c.made }) }

// Linked reports whether the connection to p carries a link.
func (t *Links[P]) Linked(p P) bool { return t.is(p, func(c *conn) bool { return c.link }) }

// LinkedBefore reports whether the connection to p carries a link that began before the given time.
func (t *Links[P]) LinkedBefore(p P, at time.Duration) bool {
	return t.is(p, func(c *conn) bool { return c.link && c.linked < at })
}

func (t *Links[P]) is(p P, what func(*conn) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.peers[p]
	return c != nil && what(c)
}

// Need records whether p is a neighbour.
func (t *Links[P]) Need(p P, needed bool) { t.set(p, func(c *conn) { c.needed = needed }) }

// Meshed records whether p is in pubsub's mesh.
func (t *Links[P]) Meshed(p P, mesh bool) { t.set(p, func(c *conn) { c.mesh = mesh }) }

func (t *Links[P]) set(p P, f func(*conn)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.peers[p]; c != nil {
		f(c)
	}
}

// Use records that a stream with p is open, until the returned function is called with the time. A stream that p opened
// does not count unless there is a link with p.
func (t *Links[P]) Use(p P, inbound bool) (done func(now time.Duration)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.peers[p]
	if c == nil || inbound && !c.link {
		return func(time.Duration) {}
	}
	c.busy++
	c.fresh = false
	return func(now time.Duration) {
		t.mu.Lock()
		defer t.mu.Unlock()
		c.busy--
		c.used = now
	}
}

// Stale returns the peers whose connections or links nothing needs and nothing has used for 30 s, or for 2 s if the
// connection serves only questions. The driver ends these links, and closes the connections that it made.
func (t *Links[P]) Stale(now time.Duration) (out []P) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p, c := range t.peers {
		if c.stale(now) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// least returns the own connection that gives way first, and whether it may go now. One that may goes before one that may
// not; then the least worthy, then the longest unused. Without own connections it returns the zero P.
func (t *Links[P]) least(now time.Duration) (best P, may bool) {
	for q, c := range t.peers {
		if !t.own(q) || may && !c.mayGo(now) {
			continue
		}
		b := t.peers[best]
		if b == nil || c.mayGo(now) != may || cmp.Or(cmp.Compare(c.worth(), b.worth()), cmp.Compare(c.used, b.used), cmp.Compare(q, best)) < 0 {
			best, may = q, c.mayGo(now)
		}
	}
	return best, may
}

// Peak returns the largest number so far of own connections and links taken at a time.
func (t *Links[P]) Peak() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.peak
}
