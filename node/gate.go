package node

import (
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// Gate holds a host to its node's limit of connections also while many peers connect at one time: without it, connections
// over the limit are closed only after they were made. Give the same one to the host, as its libp2p.ConnectionGater, and to
// its node, by WithGate. The zero value is ready, and lets everybody in until it has a node.
type Gate struct{ node atomic.Pointer[Node] }

var _ connmgr.ConnectionGater = (*Gate)(nil)

// WithGate tells the node of its host's gate. Default: none.
func WithGate(g *Gate) Option {
	return func(c *config) error { c.gate = g; return nil }
}

// InterceptPeerDial lets every dial pass.
func (*Gate) InterceptPeerDial(peer.ID) bool { return true }

// InterceptAddrDial lets every dial pass.
func (*Gate) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept lets every connection begin: it is not yet known whose it is.
func (*Gate) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// A peer that finds no room waits so long for it, which is less trouble for both than to refuse it and have it come again.
const (
	roomPatience = 250 * time.Millisecond
	roomPoll     = 10 * time.Millisecond
)

// InterceptSecured makes room for a peer that connects by closing a connection that may go, or waits a little for room;
// else it refuses the peer.
func (g *Gate) InterceptSecured(d network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	n := g.node.Load()
	if n == nil || n.ctx.Err() != nil || d == network.DirOutbound {
		return true
	}
	evict, ok := n.links.Admit(p, time.Now())
	for waited := time.Duration(0); !ok && waited < roomPatience && n.ctx.Err() == nil; waited += roomPoll {
		time.Sleep(roomPoll)
		evict, ok = n.links.Admit(p, time.Now())
	}
	if evict != "" {
		n.disconnect(evict)
	}
	if evict != "" || !ok {
		n.counters.Drop("connections")
	}
	return ok
}

// InterceptUpgraded lets every connection pass that came so far.
func (*Gate) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
