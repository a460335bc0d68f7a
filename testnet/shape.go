package testnet

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/testnet/link"
)

// shaper puts a peer's connections on the peer's line, below encryption and multiplexing, and then upgrades them.
type shaper struct {
	transport.Upgrader
	wires  *wires
	number int
	line   *link.Line
}

// Upgrade upgrades a connection that was dialled.
func (s shaper) Upgrade(ctx context.Context, t transport.Transport, c manet.Conn, dir network.Direction, p peer.ID, scope network.ConnManagementScope) (transport.CapableConn, error) {
	latency := s.wires.dialled(s.number, c.LocalAddr().String(), p)
	c = shaped(c, s.line, func() time.Duration { return latency })
	return s.Upgrader.Upgrade(ctx, t, c, dir, p, scope)
}

// UpgradeGatedMaListener upgrades the connections that come in.
func (s shaper) UpgradeGatedMaListener(t transport.Transport, l transport.GatedMaListener) transport.Listener {
	return s.Upgrader.UpgradeGatedMaListener(t, shapedListener{l, s})
}

type shapedListener struct {
	transport.GatedMaListener
	by shaper
}

// Accept puts the next connection on the line.
func (l shapedListener) Accept() (manet.Conn, network.ConnManagementScope, error) {
	c, scope, err := l.GatedMaListener.Accept()
	if err != nil {
		return nil, nil, err
	}
	from := c.RemoteAddr().String()
	return shaped(c, l.by.line, func() time.Duration { return l.by.wires.taken(from, l.by.number) }), scope, nil
}
