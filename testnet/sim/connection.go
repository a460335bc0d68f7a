package sim

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// connection is one end of a connection. Messages sent over it arrive in order.
type connection struct {
	peer strategy.ID
	life uint32        // session of the other peer; 0: not known yet
	used time.Duration // when it was last used; for connections without a link only
	*wire
	outbound bool // this peer asked for the link
}

const (
	// keptConnections is the number of connections that a peer keeps besides its links, as many as Kubo keeps in all by
	// default.
	keptConnections = 96

	// roundTrips of a handshake: each takes two latencies. One is TCP's, one Noise's.
	roundTrips = 2
)

// HandshakeBytes is the number of bytes that each end of a new connection sends until it is ready: for transport
// security, the choice of protocols, and libp2p's identify. It was measured between hosts of nodes, which use Noise on TCP
// (package drive).
const HandshakeBytes = 1200

// linkTo returns the connection of the link to a peer; nil: there is no link.
func (n *node) linkTo(p strategy.ID) *connection {
	if i, there := n.links.Index(p); there {
		return &n.ends[i]
	}
	return nil
}

// passing returns the connection to a peer without a link; nil: there is none.
func (n *node) passing(p strategy.ID) *connection {
	for i := range n.recent {
		if c := &n.recent[i]; c.peer == p {
			return c
		}
	}
	return nil
}

// remember adds a connection to a peer without a link. If there are keptConnections already, it closes the one
// that was idle for the longest.
func (n *node) remember(c connection) *connection {
	c.used = n.now
	if len(n.recent) < keptConnections {
		n.recent = append(n.recent, c)
		return &n.recent[len(n.recent)-1]
	}
	at := &n.recent[0]
	for i := range n.recent {
		if r := &n.recent[i]; r.used < at.used {
			at = r
		}
	}
	n.hangUp(at)
	*at = c
	return at
}

// connectionTo returns the connection to a peer. If there is none, it begins a handshake, and the connection is ready
// when the handshake is over.
func (n *node) connectionTo(p strategy.ID) *connection {
	if c := n.linkTo(p); c != nil {
		return c
	}
	if c := n.passing(p); c != nil {
		c.used = n.now
		return c
	}
	w := &wire{ready: always}
	n.handshake(p, w, &event{kind: handshake})
	return n.remember(connection{peer: p, wire: w})
}

// handshake begins to connect to a peer. If the event then is a request for a link, it is sent after the handshake.
func (n *node) handshake(p strategy.ID, w *wire, then *event) {
	n.put(&n.up, stream{peer: p, lane: shakingLane, wire: w}, then, HandshakeBytes)
	n.emit(event{at: n.now, to: p, from: n.id, kind: handshake, msg: strategy.Message{Bytes: HandshakeBytes}})
}

// shake puts this end's bytes of a handshake on the line. The other peer began the handshake.
func (n *node) shake(with strategy.ID) {
	n.put(&n.up, stream{peer: with, lane: shakingLane}, &event{kind: handshake}, HandshakeBytes)
}

// heard notes the use of a connection, without a link, over which a message came. If this end has no connection to the
// peer, or one to another session, the connection used is new: this end sends its part of the handshake.
func (n *node) heard(p strategy.ID, life uint32) {
	if n.linked(p) {
		return
	}
	switch c := n.passing(p); {
	case c == nil:
		n.shake(p)
		n.remember(connection{peer: p, life: life, wire: &wire{}})
	case c.life != 0 && c.life != life:
		n.shake(p)
		*c = connection{peer: p, life: life, used: n.now, wire: &wire{}}
	default:
		c.used, c.life = n.now, life
	}
}

// forget removes this end of a connection, without a link, to a session of a peer.
func (n *node) forget(p strategy.ID, life uint32) {
	if c := n.passing(p); c != nil && (c.life == 0 || c.life == life) {
		n.release(c)
	}
}

// release removes a connection from those without a link. The other end does not learn of it.
func (n *node) release(c *connection) {
	last := len(n.recent) - 1
	*c = n.recent[last]
	n.recent = n.recent[:last]
}

// open adds the link to a session of a peer, unless there is one. It closes a link to another session of that
// peer first.
func (n *node) open(p strategy.ID, life uint32, outbound bool) {
	n.links.Dialled(p)
	if c := n.linkTo(p); c != nil {
		if c.life == life {
			return
		}
		n.close(p, c.life)
	}
	c := connection{peer: p, life: life, outbound: outbound, wire: &wire{}}
	if old := n.passing(p); old != nil && (old.life == 0 || old.life == life) {
		c.wire = old.wire
		n.release(old)
	}
	n.ends = slices.Insert(n.ends, n.links.Add(p), c)
	n.step(strategy.LinkOpened{Peer: p, Outbound: outbound})
}

// close handles the end of a connection to a session of a peer, with a link or without.
func (n *node) close(p strategy.ID, life uint32) {
	n.forget(p, life)
	if c := n.linkTo(p); c == nil || c.life != life {
		return
	}
	at, _ := n.links.Remove(p)
	n.ends = slices.Delete(n.ends, at, at+1)
	n.step(strategy.LinkClosed{Peer: p})
	n.sim.repair(n)
}

// hangUp sends the end of a connection to the peer at the other end, behind the messages under way to it.
func (n *node) hangUp(c *connection) {
	e := event{at: max(n.now+n.sim.latency(n.id, c.peer), c.last), to: c.peer, from: n.id, toLife: c.life, kind: closed}
	if s := n.up.longest(func(s *stream) bool { return s.wire == c.wire }); s != nil {
		s.waiting = append(s.waiting, parcel{event: e})
		return
	}
	n.emit(e)
}

func (n *node) linked(p strategy.ID) bool { return n.linkTo(p) != nil }
