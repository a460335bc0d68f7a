package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"
)

// FindPeer returns the addresses of a peer by its newest signed record. For a peer that is connected and has published
// nothing, they are the addresses that the host knows. It asks nobody. The errors: routing.ErrNotFound, ErrClosed,
// ctx's.
func (n *Node) FindPeer(ctx context.Context, p peer.ID) (peer.AddrInfo, error) {
	r, ok, err := n.heldRecord(ctx, p)
	switch {
	case err != nil:
		return peer.AddrInfo{}, err
	case ok:
		return n.record(r.Envelope)
	case n.reached(p):
		return peer.AddrInfo{ID: p, Addrs: byIP(n.host.Peerstore().Addrs(p))}, nil
	}
	return peer.AddrInfo{}, routing.ErrNotFound
}

// PeerStatus is a node's knowledge of another peer.
type PeerStatus struct {
	ID        peer.ID
	Connected bool
	Linked    bool          // hello was said
	RTT       time.Duration // round trip, smoothed over hellos, confirmations and libp2p's pings; 0: not known
	Keys      int           // number of keys in its summary; 0: no summary is held
	Parts     int           // number of parts of its summary that are held
	Bytes     int           // size of these parts on the wire
	Rate      float64       // false-positive rate of the parts held, 0 to 1; 1: nothing is held
}

// Peers returns the peers that are connected or whose summary is held, in the order of their ids. It takes time linear
// in their number. The errors: ErrClosed, ctx's.
func (n *Node) Peers(ctx context.Context) ([]PeerStatus, error) {
	all := make(map[peer.ID]*PeerStatus)
	of := func(p peer.ID) *PeerStatus {
		if all[p] == nil {
			all[p] = &PeerStatus{ID: p, Rate: 1}
		}
		return all[p]
	}
	for _, p := range n.host.Network().Peers() {
		of(p).Connected = true
	}
	err := n.view(ctx, func(l *loop) {
		for p, link := range l.links {
			if link.greeted {
				of(p).Linked = true
			}
		}
		for _, d := range l.core.Overlay.Directory() {
			s := of(peer.ID(d.Peer))
			s.Parts, s.Bytes, s.Rate = d.Parts, d.Bytes, d.Rate
			if held, ok := l.core.Overlay.Held(d.Peer); ok {
				h := held.Header()
				s.Keys = h.N
			}
		}
	})
	out := make([]PeerStatus, 0, len(all))
	for _, s := range all {
		s.RTT = n.host.Peerstore().LatencyEWMA(s.ID)
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b PeerStatus) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out, err
}

// Connect connects to a peer and makes a link with it, over which later queries may go. It waits for the handshake and
// not for hello: see EvtLinkOpened. The errors: ErrClosed, ErrNetwork, ctx's, the host's.
func (n *Node) Connect(ctx context.Context, p peer.AddrInfo) error {
	if err := n.alive(ctx); err != nil {
		return err
	}
	if err := n.dial(ctx, p, forCaller); err != nil {
		return fmt.Errorf("node: connect to %s: %w", p.ID, err)
	}
	if n.ofOtherNetwork(p.ID) {
		return fmt.Errorf("%w: %s", ErrNetwork, p.ID)
	}
	n.in.LinkWanted(p.ID)
	return n.view(ctx, (*loop).woken)
}

// reachKnown connects to a peer at the addresses of its newest signed record, as a query does, unless there is a
// connection. The errors: ErrUnknown for a peer that is not connected and of which no record is held, reach's.
func (n *Node) reachKnown(ctx context.Context, p peer.ID) error {
	r, known, err := n.heldRecord(ctx, p)
	switch {
	case err != nil:
		return err
	case known:
		return n.reach(ctx, r, forQuery)
	case n.reached(p):
		return nil
	}
	return ErrUnknown
}
