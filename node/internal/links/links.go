// Package links decides which connections of a node's host to keep.
package links

import (
	"maps"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Table decides which connections to keep. It is told of every connection and of every use of one, and names the peers to
// disconnect. Neighbours are kept. Others go when there are too many: first those that are no links, made to confirm or
// accepted without a hello, then links, then links of pubsub's mesh; and before that, unless they are of the mesh, when they
// have been idle for idleLife. It is safe for concurrent use.
type Table struct {
	mu      sync.Mutex
	most    int
	peers   map[peer.ID]*conn
	dialing map[peer.ID]bool      // true: only to confirm
	coming  map[peer.ID]time.Time // admitted, but not yet opened
	peak    int
}

type conn struct {
	passing bool // we dialled, only to confirm
	link    bool // said hello
	needed  bool // of a neighbour
	mesh    bool // in pubsub's mesh
	fresh   bool // not used yet
	busy    int  // streams open on it
	used    time.Time
}

const (
	idleLife   = 30 * time.Second       // how long a connection that nothing needs may be idle
	comingLife = 10 * time.Second       // how long one that was admitted may take to open
	freshLife  = 500 * time.Millisecond // how long a new one is kept for the use that it was made for
)

// New returns a table of at most so many connections.
func New(most int) *Table {
	return &Table{most: most, peers: make(map[peer.ID]*conn), dialing: make(map[peer.ID]bool), coming: make(map[peer.ID]time.Time)}
}

// worth ranks connections: of less worth go first, those in use, just made or of a neighbour not at all.
func (c *conn) worth(now time.Time) (worth int, mayGo bool) {
	switch {
	case c.needed || c.busy > 0 || c.fresh && now.Sub(c.used) < freshLife:
		return 0, false
	case c.mesh:
		return 2, true
	case c.link:
		return 1, true
	}
	return 0, true
}

// Opened takes in a new connection and returns whom to disconnect for it: nobody, another, or p itself.
func (c *Table) Opened(p peer.ID, now time.Time) (evict peer.ID, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.coming, p)
	if c.peers[p] == nil {
		c.peers[p] = &conn{passing: c.dialing[p], fresh: true, used: now}
	}
	c.peak = max(c.peak, len(c.peers))
	if len(c.peers) <= c.most {
		return "", false
	}
	if victim, ok := c.least(p, now); ok {
		return victim, true
	}
	return p, true
}

// Admit asks whether a peer may connect. It returns whom to disconnect first, if anybody, and whether there is room then.
func (c *Table) Admit(p peer.ID, now time.Time) (evict peer.ID, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.coming, func(_ peer.ID, since time.Time) bool { return now.Sub(since) > comingLife })
	if c.full(p) {
		if evict, ok = c.least(p, now); !ok {
			return "", false
		}
		delete(c.peers, evict)
	}
	c.coming[p] = now
	return evict, true
}

// spareOneIn says how many connections below the limit count as full, one in so many: some may not have ended yet when others
// begin, and two peers that dial each other have two for a while.
const spareOneIn = 5

// full says whether there is no room for one more connection, to p: those that are being made count.
func (c *Table) full(p peer.ID) bool {
	if c.peers[p] != nil {
		return false
	}
	taken := len(c.peers) + len(c.coming)
	for q := range c.dialing {
		if c.peers[q] == nil {
			taken++
		}
	}
	return taken >= c.most-c.most/spareOneIn
}

// Closed takes in that no connection to p is left.
func (c *Table) Closed(p peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.peers, p)
}

// Dial asks for room for one more connection. It returns whom to disconnect first, if anybody, and whether there is room
// then. If so, Dialed must be called when the dial has ended.
func (c *Table) Dial(p peer.ID, passing bool, now time.Time) (evict peer.ID, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full(p) {
		if evict, ok = c.least(p, now); !ok {
			return "", false
		}
		delete(c.peers, evict)
	}
	c.dialing[p] = passing
	return evict, true
}

// Dialed says that a dial has ended.
func (c *Table) Dialed(p peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.dialing, p)
}

// Passing says whether the connection to p was made, by us, only to confirm.
func (c *Table) Passing(p peer.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.peers[p]
	return c.dialing[p] || x != nil && x.passing
}

// Link makes the connection to p one of a link. It returns false if there is none to p.
func (c *Table) Link(p peer.ID) bool {
	return c.set(p, func(x *conn) { x.link, x.passing, x.fresh = true, false, false })
}

// Need says whether the connection to p is that of a neighbour.
func (c *Table) Need(p peer.ID, needed bool) {
	c.set(p, func(x *conn) { x.needed = needed })
}

// Meshed says whether the connection to p is in pubsub's mesh.
func (c *Table) Meshed(p peer.ID, mesh bool) {
	c.set(p, func(x *conn) { x.mesh = mesh })
}

func (c *Table) set(p peer.ID, f func(*conn)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.peers[p]
	if x != nil {
		f(x)
	}
	return x != nil
}

// Linked says whether the connection to p is one of a link.
func (c *Table) Linked(p peer.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.peers[p]
	return x != nil && x.link
}

// Use notes that the connection to p is in use until the function returned is called.
func (c *Table) Use(p peer.ID) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.peers[p]
	if x == nil {
		return func() {}
	}
	x.busy++
	x.fresh = false
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		x.busy--
		x.used = time.Now()
	}
}

// Stale returns the peers whose connections nothing needs and that have been idle for too long.
func (c *Table) Stale(now time.Time) (out []peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, x := range c.peers {
		if worth, mayGo := x.worth(now); mayGo && worth < 2 && now.Sub(x.used) > idleLife {
			out = append(out, p)
		}
	}
	return out
}

// least is the peer other than p whose connection may go: of the least worth, and of those the longest idle.
func (c *Table) least(p peer.ID, now time.Time) (best peer.ID, ok bool) {
	least := 0
	for q, x := range c.peers {
		worth, mayGo := x.worth(now)
		if q == p || !mayGo || ok && worth > least {
			continue
		}
		if !ok || worth < least || x.used.Before(c.peers[best].used) || x.used.Equal(c.peers[best].used) && q < best {
			best, least, ok = q, worth, true
		}
	}
	return best, ok
}

// MostAtOnce is the largest number of peers connected so far.
func (c *Table) MostAtOnce() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peak
}
