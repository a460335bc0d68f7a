package node

import (
	"fmt"
	"strings"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/links"
	"github.com/venn-p2p/venn/node/internal/mesh"
)

// ServiceName names the node's streams to the resource manager.
const ServiceName = "venn"

// Topic returns the topic on which a network exchanges summaries. It stays the same when their format changes.
func Topic(network string) string { return "/venn/" + network + "/summaries/2" }

// The protocols of streams, each by the oldest version that nodes speak. For their ids on the wire see wire.ProtocolIn.
// A stream is opened in the newest version that both ends speak.
const (
	HelloID protocol.ID = "/venn/hello/1.0.0"
	HaveID  protocol.ID = "/venn/have/1.0.0"
	QueryID protocol.ID = "/venn/query/1.0.0"
	PartsID protocol.ID = "/venn/parts/1.0.0"
	PeersID protocol.ID = "/venn/peers/1.1.0"
	TailsID protocol.ID = "/venn/tails/1.0.0"
	JoinID  protocol.ID = "/venn/join/1.0.0"
	// PubsubID is the protocol of gossipsub, under an id of venn's own, so that another pubsub may run on the host.
	PubsubID = mesh.ProtocolID
)

// isHello reports whether a protocol is the hello of any network, in any version.
func isHello(id protocol.ID) bool { return strings.HasPrefix(string(id), "/venn/hello/") }

// Gossip returns an option that makes a caller's own pubsub speak gossipsub under the id of nodes. It is for programs
// that exchange summaries with nodes without being one.
func Gossip() pubsub.Option { return mesh.Gossip() }

// Muxer is libp2p's yamux for hosts of nodes: libp2p.Muxer(yamux.ID, node.Muxer). A peer that sends more than its
// share, unasked, waits. Without this muxer, a node's memory and time are bounded only once a stream is served.
var Muxer network.Multiplexer = admit.Muxer{Transport: yamux.DefaultTransport}

// Guarded is an option of libp2p.New for the host of a node, as the daemon's is: libp2p.New(node.Guarded, …). The host
// gets [Muxer], Noise and TLS, and a resource manager with libp2p's default limits and a node's own. Inbound connections
// share places, and the time of handshakes, by the networks of their addresses. They are closed if the key of the peer is
// not Ed25519, secp256k1 or P-256. While the host has a node, peers pay for all streams that they open, as for guests'
// streams ([Node.Host]); the relay of a connection pays for what goes over it, too. Of the addresses that a peer says by
// identify, the host keeps eight, by IP: libp2p.Peerstore must come before Guarded. The host dials by TCP first: a
// connection takes 2 kB, and 15 kB or more by QUIC. A dial by TCP of a host without Noise fails. SwarmOpts that follow
// Guarded replace this order.
func Guarded(c *libp2p.Config) error {
	limits := rcmgr.DefaultLimits
	setLimits(&limits)
	scaled := limits.AutoScale()
	var opts []rcmgr.Option
	if c.DisableMetrics {
		opts = append(opts, rcmgr.WithMetricsDisabled())
	}
	m, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(scaled), opts...)
	if err != nil {
		return fmt.Errorf("node: resource manager: %w", err)
	}
	if err := keepFew(c); err != nil {
		return err
	}
	door := admit.NewDoor(m, int(scaled.ToPartialLimitConfig().System.ConnsInbound)/2)
	c.SwarmOpts = append(c.SwarmOpts, swarm.WithDialRanker(links.ByTCP))
	return c.Apply(libp2p.ResourceManager(door), door.Security(), links.Early(admit.Upgrader), libp2p.Muxer(yamux.ID, Muxer))
}

// peerStreams is the largest number of streams that a peer may have open here, of all protocols.
const peerStreams = 32

// setLimits puts a node's limits into the configuration of a resource manager. A peer opens at most 32 streams of all
// protocols, and the host has room for as many on each connection. So peers that open streams and say nothing leave
// others their streams. No service and no protocol has a lower limit, such as libp2p's 64 streams of identify: it would
// be for those who come first. The node's places alone decide which streams of its protocols are served: see
// [admit.Table.Enter]. There are twice as many inbound connections as libp2p's limits allow, for half of them may have
// given way: see [admit.NewDoor]. All of them may be half-open at a time.
func setLimits(c *rcmgr.ScalingLimitConfig) {
	c.PeerBaseLimit.StreamsInbound, c.PeerLimitIncrease.StreamsInbound = peerStreams, 0
	base, more := &c.SystemBaseLimit, &c.SystemLimitIncrease
	base.Conns, base.ConnsInbound = base.Conns+base.ConnsInbound, 2*base.ConnsInbound
	more.Conns, more.ConnsInbound = more.Conns+more.ConnsInbound, 2*more.ConnsInbound
	c.TransientBaseLimit.Conns, c.TransientBaseLimit.ConnsInbound = base.Conns, base.ConnsInbound
	c.TransientLimitIncrease.Conns, c.TransientLimitIncrease.ConnsInbound = more.Conns, more.ConnsInbound
	for _, l := range []*rcmgr.BaseLimit{&c.SystemBaseLimit, &c.TransientBaseLimit} {
		l.StreamsInbound = peerStreams * c.SystemBaseLimit.Conns
		l.Streams = l.StreamsInbound + l.StreamsOutbound
	}
	for _, l := range []*rcmgr.BaseLimitIncrease{&c.SystemLimitIncrease, &c.TransientLimitIncrease} {
		l.StreamsInbound = peerStreams * c.SystemLimitIncrease.Conns
		l.Streams = l.StreamsInbound + l.StreamsOutbound
	}
	c.ServiceBaseLimit, c.ServiceLimitIncrease = c.SystemBaseLimit, c.SystemLimitIncrease
	c.ProtocolBaseLimit, c.ProtocolLimitIncrease = c.SystemBaseLimit, c.SystemLimitIncrease
}
