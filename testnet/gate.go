package testnet

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// gate allows connections only between peers that are online and on the same side of a partition.
type gate struct {
	roster *roster
	mu     sync.RWMutex
	away   []bool
	side   []uint8 // nil: there is no partition
}

func newGate(p *scenario.Plan, of *roster) *gate {
	g := &gate{roster: of, away: make([]bool, p.Data.Peers())}
	for _, m := range p.Script.Moves {
		if m.At <= 0 {
			g.away[m.Peer] = !m.Online
		}
	}
	return g
}

func (g *gate) move(p strategy.ID, online bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.away[p] = !online
}

func (g *gate) cut(side []uint8) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.side = side
}

func (g *gate) online(p strategy.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return !g.away[p]
}

// there returns the number of peers that are online.
func (g *gate) there() (n int) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, away := range g.away {
		if !away {
			n++
		}
	}
	return n
}

// lets reports whether a peer may have a connection to another.
func (g *gate) lets(p int, to peer.ID) bool {
	q := g.roster.number(to)
	if q == stranger || p >= len(g.away) { // peers outside of the plan are always online
		return true
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	return !g.away[p] && !g.away[q] && (g.side == nil || g.side[p] == g.side[q])
}

// gater is the gate of one peer, for libp2p.
type gater struct {
	*gate
	of int
}

// InterceptPeerDial reports whether the peer may dial another.
func (g gater) InterceptPeerDial(p peer.ID) bool { return g.lets(g.of, p) }

// InterceptAddrDial allows all addresses.
func (g gater) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept lets all in: the peer is not known yet.
func (g gater) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured reports whether a connection may stay, now that the peer at the other end is known.
func (g gater) InterceptSecured(_ network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	return g.lets(g.of, p)
}

// InterceptUpgraded allows all connections: InterceptSecured has decided.
func (g gater) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
