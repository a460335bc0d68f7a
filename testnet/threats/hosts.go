package threats

import (
	"context"
	"io"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay/wire"
)

// cast has the hosts and nodes of one attack.
type cast struct{ closers []func() }

func (c *cast) close() {
	for i := len(c.closers) - 1; i >= 0; i-- {
		c.closers[i]()
	}
}

func (c *cast) host() host.Host {
	h := must(libp2p.New(
		libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.DisableRelay(), libp2p.DisableMetrics(), libp2p.DisableIdentifyAddressDiscovery(), libp2p.ForceReachabilityPublic(),
		libp2p.Transport(tcp.NewTCPTransport), libp2p.Security(noise.ID, noise.New), libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
	))
	c.closers = append(c.closers, func() { _ = h.Close() })
	return h
}

func (c *cast) node(opts ...node.Option) *node.Node {
	n := must(node.New(c.host(), opts...))
	c.closers = append(c.closers, func() { _ = n.Close() })
	return n
}

// linked returns a host without a node that has said hello to n.
func (c *cast) linked(ctx context.Context, n *node.Node) host.Host {
	h := c.host()
	check(h.Connect(ctx, *host.InfoFromHost(n.Host())))
	must(tell(ctx, h, n.ID(), node.HelloID, wire.Hello{Session: 1}.Append(nil)))
	return h
}

// tell sends one message on a stream and returns the answer, which begins with its length.
func tell(ctx context.Context, h host.Host, to peer.ID, id protocol.ID, msg []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s, err := h.NewStream(ctx, to, wire.ProtocolIn("venn", id))
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	_ = s.SetDeadline(time.Now().Add(5 * time.Second))
	if err := wire.WriteFrame(s, msg); err != nil {
		return nil, err
	}
	_ = s.CloseWrite()
	return io.ReadAll(s)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
