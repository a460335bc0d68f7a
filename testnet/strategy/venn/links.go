package venn

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// full is a message of a peer that has no room for the link, or no longer. It names other peers.
type full struct{ names wire.Names }

// Kind returns the name of this kind of message.
func (full) Kind() string { return "full" }

// connected reports whether there is a connection that carries a link, at the other end at least.
func (v *node) connected(p strategy.ID) bool {
	_, connected := slices.BinarySearch(v.host.Links(), p)
	return connected
}

// connect opens a link to a peer. It reports whether there is room for it.
func (v *node) connect(now time.Duration, p strategy.ID) bool {
	if _, dialling := v.dials[p]; dialling {
		return true
	}
	if v.connected(p) { // this end had no room for the link
		return v.link(now, p, true, true)
	}
	if !v.links.Dial(peerID(p), false, now) {
		return false
	}
	v.dials[p] = nil
	v.host.Connect(p)
	return true
}

// linkOpened handles a new connection that is to be a link.
func (v *node) linkOpened(now time.Duration, in strategy.LinkOpened) {
	p := peerID(in.Peer)
	asks, dialled := v.dials[in.Peer]
	delete(v.dials, in.Peer)
	if dialled || in.Outbound && v.links.Dial(p, false, now) { // the engine dials the peers to begin with
		v.letGo(now, v.links.Dialed(p, true, now))
	}
	v.link(now, in.Peer, in.Outbound, dialled || in.Outbound)
	for _, e := range asks {
		v.ask(now, e)
	}
}

// dialFailed tells the machine that a peer couldn't be connected to.
func (v *node) dialFailed(now time.Duration, p strategy.ID) {
	asks, dialled := v.dials[p]
	delete(v.dials, p)
	if dialled {
		v.links.Dialed(peerID(p), false, now)
	}
	v.step(now, event.DialFailed{Peer: peerID(p)})
	for _, e := range asks {
		v.step(now, event.Answered{Ask: e})
	}
}

// link makes a link of the connection to a peer, and reports whether there is room for it.
func (v *node) link(now time.Duration, to strategy.ID, outbound, wanted bool) bool {
	p := peerID(to)
	gone, ok := v.links.Link(p, "", wanted, now)
	v.letGo(now, gone)
	if !ok {
		return false
	}
	v.step(now, event.LinkOpened{Peer: p, Outbound: outbound})
	v.links.Need(p, v.machine.Overlay.IsNeighbour(p))
	v.pubsub(now, to, subscription{}, subscriptionBytes)
	rtt := 2 * v.run.world.Latency(v.host.Self(), to) // as the transport measures it
	v.step(now, event.RoundTrip{Peer: p, RTT: rtt})
	if outbound && len(v.mesh) < meshWanted {
		v.graft(now, to)
	}
	return true
}

// unlink ends a link, if there is one, and gives the machine the input ended. The connection stays.
func (v *node) unlink(now time.Duration, p wire.PeerID, ended event.Input) {
	if v.links.Linked(p) {
		v.links.Unlink(p)
		v.ended(now, p, ended)
	}
}

// ended notes that links has a link no more.
func (v *node) ended(now time.Duration, p wire.PeerID, ended event.Input) {
	delete(v.mesh, idOf(p))
	v.step(now, ended)
}

// part ends a link that has given way to another, and tells the other end.
func (v *node) part(now time.Duration, p wire.PeerID) {
	v.send(idOf(p), full{}, opens(wire.Names{}), 0)
	v.ended(now, p, event.LinkClosed{Peer: p})
}

// letGo ends the link with an evicted peer, and the connection if this peer made it.
func (v *node) letGo(now time.Duration, gone core.Evicted[wire.PeerID]) {
	if gone.Made {
		v.disconnect(now, idOf(gone.Peer))
	} else if gone.Peer != "" {
		v.part(now, gone.Peer)
	}
}

// disconnect ends a link and its connection.
func (v *node) disconnect(now time.Duration, to strategy.ID) {
	p := peerID(to)
	v.links.Closed(p)
	v.ended(now, p, event.LinkClosed{Peer: p})
	v.host.Disconnect(to)
}

// greet handles a hello. The machine answers a peer without a place by the names of others. Of that peer's hello it
// gets only the peer's own record.
func (v *node) greet(now time.Duration, from strategy.ID, h wire.Hello) {
	p := peerID(from)
	if !v.connected(from) || v.links.Linked(p) || v.link(now, from, false, false) {
		v.step(now, event.HelloReceived{Peer: p, Hello: h})
		return
	}
	own := slices.IndexFunc(h.Records, func(r wire.Record) bool { return r.Peer == p })
	h.Records = slices.Clone(h.Records[max(0, own):max(0, own+1)])
	v.give(now, served{from: from, refused: true}, h)
}

// turnedAway ends a link with a peer that has no room for it. The core goes on with the peers that it names.
func (v *node) turnedAway(now time.Duration, from strategy.ID, names wire.Names) {
	v.step(now, event.LinkRefused{Peer: peerID(from), Names: names})
	v.disconnect(now, from)
}

// The pubsub mesh: a peer with few mesh links grafts others, which agree while they have room.
const (
	meshWanted = 6
	meshMost   = 12
	sweepEvery = 5 * time.Second
)

// pubsub sends a message of pubsub's own. It counts against the peer's budget.
func (v *node) pubsub(now time.Duration, to strategy.ID, body strategy.Kinded, bytes int) {
	v.send(to, body, bytes, 0)
	v.step(now, event.Charged{Peer: peerID(to), Bytes: bytes - strategy.Overhead})
}

func (v *node) graft(now time.Duration, p strategy.ID) {
	v.pubsub(now, p, graft{true}, graftBytes)
	v.meshed(now, p, true)
}

// meshed notes that a peer joins the mesh or leaves it.
func (v *node) meshed(now time.Duration, p strategy.ID, in bool) {
	v.links.Meshed(peerID(p), in)
	if in {
		v.mesh[p] = true
	} else {
		delete(v.mesh, p)
	}
	v.step(now, event.Meshed{Peer: peerID(p), In: in})
}

// grafted handles a peer's wish to join this peer's mesh, or to leave it.
func (v *node) grafted(now time.Duration, p strategy.ID, in bool) {
	switch {
	case !v.links.Linked(peerID(p)):
	case in && len(v.mesh) >= meshMost && !v.mesh[p]:
		v.pubsub(now, p, graft{false}, graftBytes)
	default:
		v.meshed(now, p, in)
	}
}

// sweep ends the links that have been idle for too long, and completes the mesh.
func (v *node) sweep(now time.Duration) {
	if now-v.swept < sweepEvery {
		return
	}
	v.swept = now
	for _, p := range v.links.Stale(now) {
		if v.links.Made(p) {
			v.disconnect(now, idOf(p))
		} else {
			v.unlink(now, p, event.LinkClosed{Peer: p})
		}
	}
	for _, p := range v.host.Links() {
		if len(v.mesh) < meshWanted && !v.mesh[p] && v.links.Linked(peerID(p)) {
			v.graft(now, p)
		}
	}
}

// use notes that a message goes over a link: pubsub's messages and tails do not count.
func (v *node) use(p strategy.ID, body any, inbound bool) {
	switch body.(type) {
	case graft, subscription, catalogue, parts, tailItems:
		return
	}
	v.links.Use(peerID(p), inbound)(v.now)
}

// lost handles the end of a connection that this peer did not end.
func (v *node) lost(now time.Duration, from strategy.ID) {
	p := peerID(from)
	v.unlink(now, p, core.LinkLost{Peer: p})
	v.links.Closed(p)
}
