// Package links keeps account of the connections that a node made on its host, and of the links that it has. It
// ignores the host's other connections.
//
// It guarantees that the node makes no connection beyond its limit, which counts links taken, too. At most half of the
// limit may be links taken, and newcomers find room in a quarter of that half. Links taken once the limit is reached
// come on top of it. Each decision looks at all connections and links, which are some ten.
package links

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/core"
)

// Table holds the connections that the node made, and its links. A link on a connection that the node made is called
// made. A link on any other connection is called taken. Links taken have a share of the limit, so that no peer can
// keep the node from dialling. Neighbours and pubsub's mesh keep three quarters of that share, and newcomers find room
// in the rest: see [Table.Link]. It is safe for concurrent use.
type Table struct {
	mu      sync.Mutex
	most    int // most connections made and links taken together
	share   int // most links taken
	kept    int // most links taken that neighbours and the mesh keep from newcomers
	peers   map[peer.ID]*conn
	dialing map[peer.ID]*dial
	peak    int // most connections made and links taken at a time so far
}

// dial describes the dials under way to one peer.
type dial struct {
	under         int  // number of these dials
	questionsOnly bool // the dials are only for questions
}

// conn is a connection that the node made, or a connection with a link on it.
type conn struct {
	made          bool // this node made the connection
	link          bool
	group         string // address group of a link's peer
	questionsOnly bool   // the connection serves only questions and becomes no link
	needed        bool   // the peer is a neighbour
	mesh          bool   // the peer is in pubsub's mesh
	fresh         bool   // no stream has used it yet
	busy          int    // number of open streams on it
	used          time.Time
	linked        time.Time // when the link began
}

const (
	// Most idle time of a connection that serves only questions: its other end cannot refuse it
	questionLife = 2 * time.Second
	freshLife    = 500 * time.Millisecond // time that a new connection has to be used for the first time
)

// New returns a table for at most most connections made and links taken; most must be 4 or more. Half of them may be
// links taken.
func New(most int) *Table {
	share, kept := core.Places(most)
	return &Table{most: most, share: share, kept: kept, peers: make(map[peer.ID]*conn), dialing: make(map[peer.ID]*dial)}
}

// worth ranks connections: the one with the lowest worth gives way first. mayGo is false for a connection that is in
// use, just made, or of a neighbour.
func (c *conn) worth(now time.Time) (worth int, mayGo bool) {
	switch {
	case c.needed:
		worth = 3
	case c.mesh:
		worth = 2
	case c.link:
		worth = 1
	}
	return worth, !c.needed && c.busy == 0 && (!c.fresh || now.Sub(c.used) >= freshLife)
}

// idle reports whether nothing needs the connection, and no stream has used it for longer than life.
func (c *conn) idle(now time.Time, life time.Duration) bool {
	worth, mayGo := c.worth(now)
	return mayGo && worth < 2 && now.Sub(c.used) > life
}

// counts returns the numbers of connections made, of peers being dialled without one, and of links taken.
func (t *Table) counts() (made, dialing, taken int) {
	for _, c := range t.peers {
		if c.made {
			made++
		} else {
			taken++
		}
	}
	for p := range t.dialing {
		if c := t.peers[p]; c == nil || !c.made {
			dialing++
		}
	}
	return made, dialing, taken
}

// Counts returns the numbers of connections made and of links taken.
func (t *Table) Counts() (made, taken int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	made, _, taken = t.counts()
	return made, taken
}

// excess returns the number of connections made that exceeds the limit, given the number of links taken. It is
// negative if there is room.
func (t *Table) excess(made, taken int) int { return made - (t.most - min(taken, t.share)) }

// Evicted names a peer whose connection or link gave way to another.
type Evicted struct {
	Peer peer.ID // "": nobody gave way
	Made bool    // this node had made the connection
}

// Dial reports whether there is room for one more connection, to p. If so, Dialed must be called when the dial has
// ended. Beyond the limit there is still room if enough connections may give way: one for each connection being made
// beyond the limit. Links taken count up to their share only. Those above it, which this node wanted, take no room
// from dials.
func (t *Table) Dial(p peer.ID, questionsOnly bool, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.dialing[p]; d != nil {
		d.under++
		d.questionsOnly = d.questionsOnly && questionsOnly
		return true
	}
	made, dialing, taken := t.counts()
	if over := min(t.excess(made+dialing+1, taken), dialing+1); over > 0 && over > t.spare(taken, now) {
		return false
	}
	t.dialing[p] = &dial{under: 1, questionsOnly: questionsOnly}
	return true
}

// spare returns the number of connections that may give way to dials.
func (t *Table) spare(taken int, now time.Time) (n int) {
	for _, c := range t.peers {
		if _, mayGo := c.worth(now); c.made && mayGo {
			n++
		}
	}
	if _, ok := t.yielding("", now); ok && taken <= t.share {
		n++
	}
	return n
}

// yielding returns the link taken that gives way to a newcomer of an address group; false if none does.
func (t *Table) yielding(group string, now time.Time) (peer.ID, bool) {
	var taken []core.Taken
	for q, c := range t.peers {
		if !c.made {
			taken = append(taken, core.Taken{
				Peer: string(q), Group: c.group, Neighbour: c.needed, Mesh: c.mesh, Busy: c.busy > 0, Age: now.Sub(c.linked), Idle: now.Sub(c.used),
			})
		}
	}
	p, ok := core.Yields(taken, t.kept, group)
	return peer.ID(p), ok
}

// Dialed records that a dial has ended, and whether it made a connection. If the limit is exceeded then, it returns
// the connection or link that gives way. Nothing gives way to a failed dial, because false addresses cost a liar
// nothing.
func (t *Table) Dialed(p peer.ID, success bool, now time.Time) (evict Evicted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.dialing[p]
	if d.under--; d.under == 0 {
		delete(t.dialing, p)
	}
	if !success {
		return Evicted{}
	}
	if c := t.peers[p]; c != nil {
		c.made = true // the peer's link came first
	} else {
		t.peers[p] = &conn{made: true, questionsOnly: d.questionsOnly, fresh: true, used: now}
	}
	if made, _, taken := t.counts(); t.excess(made, taken) > 0 {
		evict = t.evicted(p, now)
		delete(t.peers, evict.Peer)
	}
	t.peaks()
	return evict
}

// evicted returns the connection or link that gives way to a new connection to p. It prefers the least worthy
// connection made; else a link taken that gives way to newcomers. In the other order, the node would make ever more
// connections, because new links taken would replace those that gave way. If all connections came into use while p was
// dialled, the longest unused one gives way.
func (t *Table) evicted(p peer.ID, now time.Time) Evicted {
	if q, ok := t.least(p, now, false); ok {
		return Evicted{q, true}
	}
	if q, ok := t.yielding("", now); ok {
		return Evicted{q, false}
	}
	q, _ := t.least(p, now, true)
	return Evicted{q, true}
}

// peaks updates the largest number of connections so far.
func (t *Table) peaks() {
	made, _, taken := t.counts()
	t.peak = max(t.peak, made+taken)
}

// QuestionsOnly reports whether the connection or dial to p that this node made serves only questions, so that no link
// is made of it.
func (t *Table) QuestionsOnly(p peer.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.peers[p]
	d := t.dialing[p]
	return d != nil && d.questionsOnly || c != nil && c.questionsOnly
}

// room reports whether a link with p, of an address group, may be taken. instead is the peer whose link must give way;
// "": none.
func (t *Table) room(p peer.ID, group string, now time.Time) (instead peer.ID, ok bool) {
	if t.peers[p] != nil {
		return "", true
	}
	if _, dialing := t.dialing[p]; dialing {
		return "", true
	}
	if _, _, taken := t.counts(); taken < t.share {
		return "", true
	}
	return t.yielding(group, now)
}

// Link records a link on the connection to p, if there is room. If this node asked for the link, wanted is true, and
// there is always room. group is p's address group, as in package admission. Link returns the peer whose link gives
// way, if any. Only links that have lasted for two seconds do so. Neighbours and the mesh keep three quarters of the
// places. But if a group has at least two more links than p's, one of its links gives way, even a neighbour's. So each
// place in the last quarter, one at least, takes a newcomer every two seconds.
func (t *Table) Link(p peer.ID, group string, wanted bool, now time.Time) (instead peer.ID, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if instead, ok = t.room(p, group, now); !ok && !wanted {
		return "", false
	}
	if instead != "" {
		delete(t.peers, instead)
	}
	if t.peers[p] == nil {
		t.peers[p] = &conn{used: now}
	}
	c := t.peers[p]
	if !c.link {
		c.linked = now
	}
	c.link, c.group, c.questionsOnly, c.fresh = true, group, false, false
	t.peaks()
	return instead, true
}

// Unlink records that the connection to p no longer carries a link.
func (t *Table) Unlink(p peer.ID) {
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
func (t *Table) SetQuestionsOnly(p peer.ID) { t.set(p, func(c *conn) { c.questionsOnly = true }) }

// Closed records that there is no connection to p, or that the connection is no longer the node's.
func (t *Table) Closed(p peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.peers, p)
}

// Made reports whether this node made the connection to p.
func (t *Table) Made(p peer.ID) bool { return t.is(p, func(c *conn) bool { return c.made }) }

// Linked reports whether the connection to p carries a link.
func (t *Table) Linked(p peer.ID) bool { return t.is(p, func(c *conn) bool { return c.link }) }

// LinkedBefore reports whether the connection to p carries a link that began before the given time.
func (t *Table) LinkedBefore(p peer.ID, at time.Time) bool {
	return t.is(p, func(c *conn) bool { return c.link && c.linked.Before(at) })
}

func (t *Table) is(p peer.ID, what func(*conn) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.peers[p]
	return c != nil && what(c)
}

// Need records whether p is a neighbour.
func (t *Table) Need(p peer.ID, needed bool) { t.set(p, func(c *conn) { c.needed = needed }) }

// Meshed records whether p is in pubsub's mesh.
func (t *Table) Meshed(p peer.ID, mesh bool) { t.set(p, func(c *conn) { c.mesh = mesh }) }

func (t *Table) set(p peer.ID, f func(*conn)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.peers[p]; c != nil {
		f(c)
	}
}

// Use records that a stream with p is open, until the returned function is called. A stream that p opened does not
// count unless there is a link with p.
func (t *Table) Use(p peer.ID, inbound bool) (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.peers[p]
	if c == nil || inbound && !c.link {
		return func() {}
	}
	c.busy++
	c.fresh = false
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		c.busy--
		c.used = time.Now()
	}
}

// Stale returns the peers whose connections or links nothing needs and nothing has used for longer than idleLife. For
// connections that serve only questions the time is questionLife.
func (t *Table) Stale(now time.Time, idleLife time.Duration) (out []peer.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p, c := range t.peers {
		life := idleLife
		if c.questionsOnly {
			life = questionLife
		}
		if c.idle(now, life) {
			out = append(out, p)
		}
	}
	return out
}

// least returns the peer, other than p, whose connection made by this node gives way first: the least worthy, of
// equals the longest unused. If inUse is true, connections in use may give way, too.
func (t *Table) least(p peer.ID, now time.Time, inUse bool) (best peer.ID, ok bool) {
	least := 0
	for q, c := range t.peers {
		worth, mayGo := c.worth(now)
		if q == p || !c.made || !mayGo && !inUse || ok && worth > least {
			continue
		}
		if !ok || worth < least || c.used.Before(t.peers[best].used) || c.used.Equal(t.peers[best].used) && q < best {
			best, least, ok = q, worth, true
		}
	}
	return best, ok
}

// Peak returns the largest number so far of connections made and links taken at a time.
func (t *Table) Peak() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.peak
}
