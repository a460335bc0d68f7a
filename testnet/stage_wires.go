package testnet

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// stagedWires make the hosts of a stage: TCP on loopback, every host on a line of its own, with the latencies of the
// plan. The end that accepts a connection knows the other by the address that it dialled from.
type stagedWires struct {
	plan  *scenario.Plan
	lines []*link.Line

	mu    sync.Mutex
	began map[string]strategy.ID // who dialled, by address
	peers map[peer.ID]strategy.ID
}

// host makes the next host.
func (w *stagedWires) host(p strategy.ID, key crypto.PrivKey, m *meter, g *gate, at netip.AddrPort) (host.Host, error) {
	l := w.plan.Line(p)
	line := link.NewLine(uint64(l.Up), uint64(l.Down), 0)
	w.lines = append(w.lines, line)
	overTCP := func(u transport.Upgrader, limits network.ResourceManager) (*tcp.TcpTransport, error) {
		return tcp.NewTCPTransport(shaper{
			u,
			func(c manet.Conn, to peer.ID) manet.Conn {
				latency := w.dialled(p, c.LocalAddr().String(), to)
				return put(c, line, func() time.Duration { return latency })
			},
			func(c manet.Conn) manet.Conn {
				from := c.RemoteAddr().String()
				return put(c, line, func() time.Duration { return w.latencyFrom(from, p) })
			},
		}, limits, nil)
	}
	h, err := libp2p.New(
		libp2p.Identity(key), libp2p.BandwidthReporter(m), libp2p.ConnectionGater(gater{g, p}),
		libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.DisableRelay(), libp2p.DisableMetrics(), libp2p.DisableIdentifyAddressDiscovery(), libp2p.ForceReachabilityPublic(),
		libp2p.ListenAddrs(TCP.address(at)), libp2p.Transport(overTCP), libp2p.Security(noise.ID, noise.New), muxer(),
	)
	if err != nil {
		return nil, fmt.Errorf("testnet: host of peer %d: %w", p, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.peers == nil {
		w.peers = map[peer.ID]strategy.ID{}
	}
	w.peers[h.ID()] = p
	return h, nil
}

// dialled notes that a peer has dialled from an address, and returns the latency to the other end.
func (w *stagedWires) dialled(from strategy.ID, address string, to peer.ID) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began[address] = from
	other, known := w.peers[to]
	if !known {
		return 0
	}
	return w.plan.Latency(other, from)
}

// latencyFrom is the latency from the peer that dialled from an address.
func (w *stagedWires) latencyFrom(address string, to strategy.ID) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	from, known := w.began[address]
	if !known {
		return 0
	}
	delete(w.began, address)
	return w.plan.Latency(from, to)
}

// put puts a connection on a host's line. The latency is asked for when the first bytes come: by then it is known who
// dialled.
func put(c manet.Conn, line *link.Line, latency func() time.Duration) manet.Conn {
	return shaped(c, func(c net.Conn) net.Conn { return line.ConnFrom(c, latency) })
}
