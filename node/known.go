package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay"
)

// KnownPeer is a peer with its signed record, which certifies its addresses.
type KnownPeer struct {
	ID        peer.ID
	Neighbour bool
	Record    []byte
}

// Addresses opens the record. The error says that it is not one of the peer.
func (p KnownPeer) Addresses() (peer.AddrInfo, error) {
	r, err := signed.OpenRecord(p.Record)
	if err == nil && r.ID != p.ID {
		err = signed.ErrSignature
	}
	return r.AddrInfo, err
}

// Known returns the peers whose summary and record are held, in the order of their ids: what to give WithBootstrap after a restart.
// The errors: ErrClosed, that of ctx.
func (n *Node) Known(ctx context.Context) (out []KnownPeer, err error) {
	err = n.view(ctx, func(l *loop) {
		neighbours := make(map[overlay.PeerID]bool)
		for _, nb := range l.core.Overlay.Neighbours() {
			neighbours[nb.Peer] = true
		}
		for _, d := range l.core.Overlay.Directory() {
			if r, ok := l.core.Overlay.Record(d.Peer); ok {
				out = append(out, KnownPeer{peer.ID(d.Peer), neighbours[d.Peer], slices.Clone(r.Envelope)})
			}
		}
	})
	slices.SortFunc(out, func(a, b KnownPeer) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out, err
}

// AddressesOf returns the addresses that a peer's record certifies. The errors: ErrUnknown when none is held, ErrClosed, that of ctx.
func (n *Node) AddressesOf(ctx context.Context, p peer.ID) (peer.AddrInfo, error) {
	var r overlay.Record
	var ok bool
	if err := n.view(ctx, func(l *loop) { r, ok = l.core.Overlay.Record(overlay.PeerID(p)) }); err != nil {
		return peer.AddrInfo{}, err
	}
	if !ok {
		return peer.AddrInfo{}, ErrUnknown
	}
	return n.record(r.Envelope)
}

// PeerStatus is what a node knows of another.
type PeerStatus struct {
	ID        peer.ID
	Connected bool
	Linked    bool          // hello was said
	RTT       time.Duration // smoothed over hellos, confirmations and libp2p's pings; 0: not known
	Keys      int           // that its summary is of
	Parts     int           // of its summary held; 0: none
	Bytes     int           // of these parts
	Rate      float64       // false-positive rate of what is held
}

// Peers returns the peers that are connected or whose summary is held, in the order of their ids. The errors: ErrClosed, that of
// ctx.
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
		for p := range l.greets {
			of(p).Linked = true
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

// Addresses is the node's host: its id and the addresses it listens on.
func (n *Node) Addresses() peer.AddrInfo {
	return peer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()}
}

// Connect connects to a peer and makes a link with it, over which queries that follow may go. The errors: ErrClosed, that of ctx, those of the host.
func (n *Node) Connect(ctx context.Context, p peer.AddrInfo) error {
	if err := n.alive(ctx); err != nil {
		return err
	}
	if err := n.dial(ctx, p, false); err != nil {
		return fmt.Errorf("node: connect to %s: %w", p.ID, err)
	}
	n.in.LinkWanted(p.ID)
	return n.view(ctx, (*loop).stirred)
}
