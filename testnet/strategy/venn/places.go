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

// admit reports whether there is a place for a link that another asked for. It may turn away a taken link to make room.
func (v *node) admit(now time.Duration, p strategy.ID) bool {
	if !v.run.world.Star || v.ties[p].keeps { // no bound, or this peer wants it, too
		return true
	}
	share, kept := core.Places(core.Connections)
	taken := v.taken(now)
	if len(taken) < share {
		return true
	}
	yields, ok := core.Yields(taken, kept, "")
	if ok {
		instead := idOf(wire.PeerID(yields))
		v.send(instead, full{}, opens(wire.Names{}), 0)
		v.turnAway(instead)
		v.step(now, event.LinkClosed{Peer: wire.PeerID(yields)})
	}
	return ok
}

// turnAway marks a link for which this peer has no place. The other end closes it.
func (v *node) turnAway(p strategy.ID) {
	v.ties.change(p, func(t *tie) { *t = tie{turned: true} })
}

// taken returns the links that others asked for.
func (v *node) taken(now time.Duration) (out []core.Taken) {
	for _, p := range v.host.Links() {
		if x := v.ties[p]; x.taken {
			out = append(out, core.Taken{
				Peer: string(peerID(p)), Neighbour: x.keeps, Mesh: x.mesh, Age: now - x.since, Idle: now - x.used,
			})
		}
	}
	return out
}

// greet handles a hello. The machine answers a peer without a place by the names of others. Of that peer's hello it
// gets only the peer's own record.
func (v *node) greet(now time.Duration, from strategy.ID, h wire.Hello) {
	p := peerID(from)
	if !v.ties[from].turned {
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
	v.disconnect(from)
}
