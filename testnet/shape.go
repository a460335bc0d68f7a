package testnet

import (
	"context"
	"net"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/testnet/link"
)

// tcp makes a peer's TCP transport, over a line of its class where lines are shaped.
func (w *wires) tcp(class link.Class) func(transport.Upgrader, network.ResourceManager) (*tcp.TcpTransport, error) {
	return func(u transport.Upgrader, limits network.ResourceManager) (*tcp.TcpTransport, error) {
		if w.shape {
			line := link.NewLine(class.Rate, class.Rate, lineLatency)
			put := func(c manet.Conn) manet.Conn { return shaped(c, line.Conn) }
			u = shaper{u, func(c manet.Conn, _ peer.ID) manet.Conn { return put(c) }, put}
		}
		return tcp.NewTCPTransport(u, limits, nil)
	}
}

// shaper is an upgrader of connections that puts them on a line first, below encryption and multiplexing.
type shaper struct {
	transport.Upgrader
	dialled func(c manet.Conn, p peer.ID) manet.Conn
	taken   func(c manet.Conn) manet.Conn
}

// Upgrade upgrades a connection that was dialled.
func (s shaper) Upgrade(ctx context.Context, t transport.Transport, c manet.Conn, dir network.Direction, p peer.ID, scope network.ConnManagementScope) (transport.CapableConn, error) {
	return s.Upgrader.Upgrade(ctx, t, s.dialled(c, p), dir, p, scope)
}

// UpgradeGatedMaListener upgrades those that come in.
func (s shaper) UpgradeGatedMaListener(t transport.Transport, l transport.GatedMaListener) transport.Listener {
	return s.Upgrader.UpgradeGatedMaListener(t, shapedListener{l, s.taken})
}

type shapedListener struct {
	transport.GatedMaListener
	shape func(manet.Conn) manet.Conn
}

// Accept puts the next connection on the line.
func (l shapedListener) Accept() (manet.Conn, network.ConnManagementScope, error) {
	c, scope, err := l.GatedMaListener.Accept()
	if err != nil {
		return nil, nil, err
	}
	return l.shape(c), scope, nil
}

// systemBuffer is the size in bytes of the operating system's queues of a shaped connection. By themselves they grow to
// megabytes, which a slow line would take minutes to carry.
const systemBuffer = 32 << 10

// shaped is a connection put on a line by on.
func shaped(c manet.Conn, on func(net.Conn) net.Conn) manet.Conn {
	if b, ok := c.(interface {
		SetReadBuffer(int) error
		SetWriteBuffer(int) error
	}); ok {
		_ = b.SetReadBuffer(systemBuffer)
		_ = b.SetWriteBuffer(systemBuffer)
	}
	return shapedConn{on(c), c}
}

// shapedConn is a connection on a line, with the addresses of the one below.
type shapedConn struct {
	net.Conn
	network.ConnMultiaddrs
}
