package testnet

import (
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// gate says between which peers there may be connections: those that are there, on the same side of a partition.
type gate struct {
	mu     sync.RWMutex
	away   []bool
	side   []uint8 // nil: there is no partition
	number map[peer.ID]strategy.ID
}

func newGate(p *scenario.Plan) *gate {
	g := &gate{away: make([]bool, p.Data.Peers()), number: map[peer.ID]strategy.ID{}}
	for _, m := range p.Script.Moves {
		if m.At <= 0 {
			g.away[m.Peer] = !m.Online
		}
	}
	return g
}

// name says which peer a host is.
func (g *gate) name(id peer.ID, p strategy.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.number[id] = p
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

// there is how many peers are there.
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

// lets says whether a peer may have a connection to another.
func (g *gate) lets(p strategy.ID, to peer.ID) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	q, known := g.number[to]
	return known && !g.away[p] && !g.away[q] && (g.side == nil || g.side[p] == g.side[q])
}

// gater is the gate of one peer, for libp2p.
type gater struct {
	*gate
	of strategy.ID
}

// InterceptPeerDial is asked before a peer is dialled.
func (g gater) InterceptPeerDial(p peer.ID) bool { return g.lets(g.of, p) }

// InterceptAddrDial has nothing against addresses.
func (g gater) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept does not know yet who it is.
func (g gater) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured is asked when it is known who is at the other end.
func (g gater) InterceptSecured(_ network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	return g.lets(g.of, p)
}

// InterceptUpgraded has been asked before.
func (g gater) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

// connections counts those that a host has had.
type connections struct{ opened atomic.Int64 }

// bytes is what this end sent to open them, as the simulator counts it.
func (c *connections) bytes() int64 { return sim.HandshakeBytes * c.opened.Load() }

// Connected counts a connection.
func (c *connections) Connected(network.Network, network.Conn) { c.opened.Add(1) }

// Disconnected does nothing.
func (c *connections) Disconnected(network.Network, network.Conn) {}

// Listen does nothing.
func (c *connections) Listen(network.Network, ma.Multiaddr) {}

// ListenClose does nothing.
func (c *connections) ListenClose(network.Network, ma.Multiaddr) {}
