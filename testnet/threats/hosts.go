package threats

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multistream"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/overlay/wire"
)

// hostAttacks are attacks by strangers on a node on a real host.
var hostAttacks = []attack{
	{
		name: "a stranger asks for a private key", where: Hosts, measured: "1 if the answer is yes", target: atMost(0),
		defence: "private keys are for links alone", run: privateKey, slow: true,
	},
	{
		name: "half handshakes from one address", where: Hosts, measured: "1 if a dial and a find succeed", target: atLeast(1),
		defence: "a handshake that has not ended takes no slot of the node's", run: tried(halfHandshakes), slow: true,
	},
	{
		name: "a web page whose name points here", where: Hosts, measured: "1 if it reads what the node holds", target: atMost(0),
		defence: "the public listener knows its names", run: rebinding,
	},
}

// cast has the hosts and nodes of one attack.
type cast struct{ closers []func() }

func (c *cast) close() {
	for i := len(c.closers) - 1; i >= 0; i-- {
		c.closers[i]()
	}
}

func (c *cast) host(opts ...libp2p.Option) host.Host {
	h := must(libp2p.New(append([]libp2p.Option{
		libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.DisableRelay(), libp2p.DisableMetrics(), libp2p.DisableIdentifyAddressDiscovery(), libp2p.ForceReachabilityPublic(),
		libp2p.Transport(tcp.NewTCPTransport), libp2p.Security(noise.ID, noise.New), libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
	}, opts...)...))
	c.closers = append(c.closers, func() { _ = h.Close() })
	return h
}

func (c *cast) nodeOn(h host.Host, opts ...node.Option) *node.Node {
	n := must(node.New(h, opts...))
	c.closers = append(c.closers, func() { _ = n.Close() })
	return n
}

func (c *cast) node(opts ...node.Option) *node.Node { return c.nodeOn(c.host(), opts...) }

// beside returns a host that is connected with n and has no node.
func (c *cast) beside(ctx context.Context, n *node.Node) host.Host {
	h := c.host()
	check(h.Connect(ctx, *host.InfoFromHost(n.Host())))
	return h
}

// linked returns a host without a node that has said hello to n.
func (c *cast) linked(ctx context.Context, n *node.Node) host.Host {
	h := c.beside(ctx, n)
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

// privateKey measures whether a stranger learns that a node holds a private key: 1 or 0. The undefended node holds
// the key like any other.
func privateKey(ctx context.Context, defended bool) float64 {
	var c cast
	defer c.close()
	links := node.WithPrivatePeers(func(peer.ID) bool { return true })
	n := c.node(links)
	hold := n.Add
	if defended {
		hold = n.AddPrivate
	}
	must(hold(ctx, []byte("private")))
	got := must(tell(ctx, c.beside(ctx, n), n.ID(), node.HaveID, wire.HaveRequest{Keys: [][]byte{[]byte("private")}, Private: true}.Append(nil)))
	if len(got) == 0 {
		return 0
	}
	has := must(wire.ParseHaveAnswer(got[1:], 1))
	return truth(has[0])
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// reaches measures whether a node can dial a peer and find a key that it holds, within 5 s: 1 or 0.
func (c *cast) reaches(ctx context.Context, n *node.Node) float64 {
	holder := c.node()
	must(holder.Add(ctx, []byte("k")))
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if n.Connect(ctx, *host.InfoFromHost(holder.Host())) != nil {
		return 0
	}
	results, err := n.Query(ctx, []byte("k"), node.QueryOptions{})
	if err != nil {
		return 0
	}
	for range results.Providers() {
		return 1
	}
	return 0
}

// tried runs an attack until its result is as expected. On a busy machine, the load on an undefended node may end
// before all of it has begun: it gets five tries. A dial of a defended node may take too long there: it gets two.
func tried(run func(ctx context.Context, defended bool) float64) func(context.Context, bool) float64 {
	return func(ctx context.Context, defended bool) (reached float64) {
		tries := 5
		if defended {
			tries = 2 // with more tries, a defence that mostly fails would pass
		}
		for range tries {
			if reached = run(ctx, defended); reached == truth(defended) {
				break
			}
		}
		return reached
	}
}

// handshakeGate limits the connections whose handshake has not ended, as the node itself once did.
type handshakeGate struct {
	most int64
	now  atomic.Int64
}

func (g *handshakeGate) InterceptAccept(network.ConnMultiaddrs) bool  { g.now.Add(1); return true }
func (g *handshakeGate) InterceptPeerDial(peer.ID) bool               { return g.now.Load() < g.most }
func (g *handshakeGate) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }
func (g *handshakeGate) InterceptSecured(network.Direction, peer.ID, network.ConnMultiaddrs) bool {
	return true
}

func (g *handshakeGate) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) {
	g.now.Add(-1)
	return true, 0
}

// halfHandshakes measures what reaches does, while forty connections stay open whose handshakes ended after noise.
func halfHandshakes(ctx context.Context, defended bool) float64 {
	var c cast
	defer c.close()
	var opts []libp2p.Option
	if !defended {
		opts = append(opts, libp2p.ConnectionGater(&handshakeGate{most: 26}))
	}
	h := c.host(opts...)
	n := c.nodeOn(h, node.WithMaxConnections(32))
	for range 40 {
		c.halfHandshake(ctx, h)
	}
	return c.reaches(ctx, n)
}

func (c *cast) halfHandshake(ctx context.Context, h host.Host) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	check(err)
	conn := must(new(net.Dialer).DialContext(ctx, "tcp", must(manet.ToNetAddr(h.Addrs()[0])).String()))
	c.closers = append(c.closers, func() { _ = conn.Close() })
	must(multistream.SelectOneOf([]string{noise.ID}, conn))
	must(must(noise.New(noise.ID, key, nil)).SecureOutbound(ctx, conn, h.ID()))
}

// rebinding measures whether the HTTP API serves a request that names a foreign host: 1 or 0.
func rebinding(ctx context.Context, defended bool) float64 {
	served := http.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if defended {
		served = httpapi.Guard(served)
	}
	l := must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	s := http.Server{Handler: served, ReadHeaderTimeout: time.Second}
	defer func() { _ = s.Close() }()
	go func() { _ = s.Serve(l) }()
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+"/routing/v1/providers/x", nil))
	r.Host = "rebound.example"
	answer := must(http.DefaultClient.Do(r))
	check(answer.Body.Close())
	return truth(answer.StatusCode == http.StatusOK)
}
