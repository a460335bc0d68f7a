package node

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node/interfaces"
)

const (
	probeTime = 3 * time.Second // time in which a connection must show that it is alive
	maxProbes = 4               // most connections with a peer that are probed at a time
)

// readdressed handles a change of the host's addresses. It tells others, and ends connections that cannot work any
// more.
func (n *Node) readdressed(ev event.EvtLocalAddressesUpdated) {
	n.moved.Store(true)
	n.in.Wake()
	var removed []ma.Multiaddr
	for _, a := range ev.Removed {
		removed = append(removed, a.Address)
	}
	for _, p := range n.parted.take(time.Now()) {
		n.tasks.Run(func() { n.linkAgain(p) })
	}
	if len(removed) > 0 {
		n.tasks.Run(func() { n.endDead(removed) })
	}
}

const (
	partedTime = 2 * time.Minute // time for which a lost link is remembered: a new address of the host may be the cause
	maxParted  = 32              // most lost links remembered
)

// endDead closes connections from an address that the machine has lost, if the node made them or has a link on them,
// and makes the links again. Nothing can pass on such a connection. go-libp2p notices that after 30 to 40 s, and until
// then does not dial the peer, which it takes to be connected. A connection by QUIC mostly doesn't show its local
// address, and moves to a new one if this end dialled. So a probe finds the connections that work.
func (n *Node) endDead(removed []ma.Multiaddr) {
	lost := interfaces.Lost(removed)
	if len(lost) == 0 {
		return
	}
	for _, c := range n.host.Network().Conns() {
		p := c.RemotePeer()
		linked := n.links.Linked(p)
		from := c.LocalMultiaddr()
		if !linked && !n.links.Made(p) || !interfaces.At(from, lost) && !manet.IsIPUnspecified(from) {
			continue
		}
		n.tasks.Run(func() {
			if !interfaces.At(from, lost) && alive(n.ctx, c) || n.ctx.Err() != nil {
				return
			}
			n.log.Debug("connection ends with its address", "peer", p, "address", from)
			_ = c.Close()
			if linked {
				n.linkAgain(p)
			}
		})
	}
}

// linkAgain dials a peer that was linked, at the addresses that the host knows of it.
func (n *Node) linkAgain(p peer.ID) {
	if n.barred(p) {
		return
	}
	info := peer.AddrInfo{ID: p, Addrs: n.host.Peerstore().Addrs(p)}
	ctx, cancel := context.WithTimeout(n.ctx, dialTime)
	defer cancel()
	if err := n.dialFew(ctx, info, forLink); err != nil {
		n.log.Debug("no connection from the new address", "peer", p, "err", err)
		return
	}
	n.in.LinkWanted(p)
}

// replaced checks whether a linked peer's new connection replaces older ones, which died with the peer's former
// address. Otherwise streams would be opened on the dead ones for 40 s.
func (n *Node) replaced(p peer.ID, by network.Conn) {
	if !n.links.Linked(p) {
		return
	}
	probes := 0
	for _, c := range n.host.Network().ConnsToPeer(p) {
		if c != by && !relayed(c) && probes < maxProbes && apart(c, by) {
			probes++
			n.tasks.Run(func() { n.look(c) })
		}
	}
}

// apart reports whether the other ends of two connections are at different IP addresses.
func apart(a, b network.Conn) bool {
	x, _ := ma.SplitFirst(a.RemoteMultiaddr())
	y, _ := ma.SplitFirst(b.RemoteMultiaddr())
	return x == nil || y == nil || !x.Equal(y)
}
