package sim

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// connection is one end of a connection: its state keeps the messages sent over it in order.
type connection struct {
	peer strategy.ID
	life uint32        // session of the peer at the other end; 0: not known yet
	used time.Duration // last, of one without a link
	*wire
	outbound bool // this end asked for the link
}

const (
	// keptConnections is the number of connections that a peer keeps besides its links, as many as Kubo keeps in all by
	// default.
	keptConnections = 96

	// roundTrips to connect: each takes two latencies.
	roundTrips = 2
)

// HandshakeBytes is the number of bytes that each end of a new connection sends until it is ready: transport security,
// choice of protocols, libp2p's identify both ways. Measured between hosts on TCP (package drive).
const HandshakeBytes = 2800

// linkTo returns the connection of a link; nil: there is no link to the peer.
func (n *node) linkTo(p strategy.ID) *connection {
	if i, there := n.links.Index(p); there {
		return &n.ends[i]
	}
	return nil
}

// passing returns a connection to a peer without a link; nil: there is none.
func (n *node) passing(p strategy.ID) *connection {
	for i := range n.recent {
		if c := &n.recent[i]; c.peer == p {
			return c
		}
	}
	return nil
}

// remember notes a connection to a peer without a link. The one that was idle for the longest gives way.
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

// connectionTo returns the connection to a peer. If there is none, one is opened: its handshake takes its time.
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

// handshake begins to connect. After the handshake it sends then, a request for a link, or nothing.
func (n *node) handshake(p strategy.ID, w *wire, then *event) {
	n.put(&n.up, stream{peer: p, lane: shakingLane, wire: w}, then, HandshakeBytes)
	n.emit(event{at: n.now, to: p, from: n.id, kind: handshake, msg: strategy.Message{Bytes: HandshakeBytes}})
}

// shake puts this end's part of a handshake on the line that another began.
func (n *node) shake(with strategy.ID) {
	n.put(&n.up, stream{peer: with, lane: shakingLane}, &event{kind: handshake}, HandshakeBytes)
}

// heard notes over which connection a message came.
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

// forget closes this end of a connection to a session of a peer without a link.
func (n *node) forget(p strategy.ID, life uint32) {
	if c := n.passing(p); c != nil && (c.life == 0 || c.life == life) {
		n.release(c)
	}
}

// release takes out a connection without a link.
func (n *node) release(c *connection) {
	last := len(n.recent) - 1
	*c = n.recent[last]
	n.recent = n.recent[:last]
}

// open notes a link to a session of a peer.
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

// close handles the end of a connection to a session of a peer.
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

// hangUp tells the other end that a connection is closed, behind the messages that are on their way.
func (n *node) hangUp(c *connection) {
	e := event{at: max(n.now+n.sim.latency(n.id, c.peer), c.last), to: c.peer, from: n.id, toLife: c.life, kind: closed}
	if s := n.up.longest(func(s *stream) bool { return s.wire == c.wire }); s != nil {
		s.waiting = append(s.waiting, parcel{event: e})
		return
	}
	n.emit(e)
}

func (n *node) linked(p strategy.ID) bool { return n.linkTo(p) != nil }
