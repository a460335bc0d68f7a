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

// hostAttacks are attacks by strangers, on a node on a real host.
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

// cast is the hosts and nodes of one attack.
type cast struct{ closers []func() }

func (c *cast) close() {
	for i := len(c.closers) - 1; i >= 0; i-- {
		c.closers[i]()
	}
}

func (c *cast) host(opts ...libp2p.Option) (host.Host, error) {
	h, err := libp2p.New(append([]libp2p.Option{
		libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.DisableRelay(), libp2p.DisableMetrics(), libp2p.DisableIdentifyAddressDiscovery(), libp2p.ForceReachabilityPublic(),
		libp2p.Transport(tcp.NewTCPTransport), libp2p.Security(noise.ID, noise.New), libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
	}, opts...)...)
	if err == nil {
		c.closers = append(c.closers, func() { _ = h.Close() })
	}
	return h, err
}

func (c *cast) nodeOn(h host.Host, opts ...node.Option) (*node.Node, error) {
	n, err := node.New(h, opts...)
	if err == nil {
		c.closers = append(c.closers, func() { _ = n.Close() })
	}
	return n, err
}

func (c *cast) node(opts ...node.Option) (*node.Node, error) {
	h, err := c.host()
	if err != nil {
		return nil, err
	}
	return c.nodeOn(h, opts...)
}

// linked returns a host without a node that has said hello to n.
func (c *cast) linked(ctx context.Context, n *node.Node) (host.Host, error) {
	h, err := c.host()
	if err != nil {
		return nil, err
	}
	if err := h.Connect(ctx, *host.InfoFromHost(n.Host())); err != nil {
		return nil, err
	}
	_, err = tell(ctx, h, n.ID(), node.HelloID, wire.Hello{Session: 1}.Append(nil))
	return h, err
}

// tell sends one message on a stream and returns the answer, with its length before it.
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

// privateKey asks as a stranger for a key that is held privately, or, without the defence, as any other.
func privateKey(ctx context.Context, defended bool) (float64, error) {
	var c cast
	defer c.close()
	links := node.WithPrivatePeers(func(peer.ID) bool { return true })
	n, err := c.node(links)
	if err != nil {
		return 0, err
	}
	hold := n.Add
	if defended {
		hold = n.AddPrivate
	}
	if _, err := hold(ctx, []byte("private")); err != nil {
		return 0, err
	}
	h, err := c.host()
	if err != nil {
		return 0, err
	}
	if err := h.Connect(ctx, *host.InfoFromHost(n.Host())); err != nil {
		return 0, err
	}
	got, err := tell(ctx, h, n.ID(), node.HaveID, wire.HaveRequest{[]byte("private")}.Append(nil))
	if err != nil || len(got) == 0 {
		return 0, err
	}
	has, err := wire.ParseHaveAnswer(got[1:], 1)
	if err != nil {
		return 0, err
	}
	return truth(has[0]), nil
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// reaches measures whether a node can dial a peer and find a key that it holds, within 5 s.
func (c *cast) reaches(ctx context.Context, n *node.Node) (float64, error) {
	holder, err := c.node()
	if err != nil {
		return 0, err
	}
	if _, err := holder.Add(ctx, []byte("k")); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if n.Connect(ctx, *host.InfoFromHost(holder.Host())) != nil {
		return 0, nil
	}
	results, err := n.Query(ctx, []byte("k"), node.QueryOptions{})
	if err != nil {
		return 0, nil //nolint:nilerr // that is what is measured
	}
	for range results.Providers() {
		return 1, nil
	}
	return 0, nil
}

// tried runs an attack until its result is as expected. On a busy machine the load on an undefended node ends before
// all of it has begun: there are five tries. A dial may take too long there, too: a defended node has one more try.
func tried(run func(ctx context.Context, defended bool) (float64, error)) func(context.Context, bool) (float64, error) {
	return func(ctx context.Context, defended bool) (reached float64, err error) {
		tries := 5
		if defended {
			tries = 2 // with more, a defence that mostly fails would pass
		}
		for range tries {
			if reached, err = run(ctx, defended); err != nil || reached == truth(defended) {
				break
			}
		}
		return reached, err
	}
}

// handshakeGate limits connections before their handshake has ended, as the node itself once did.
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

// halfHandshakes has forty connections go as far as noise, and no further.
func halfHandshakes(ctx context.Context, defended bool) (float64, error) {
	var c cast
	defer c.close()
	var opts []libp2p.Option
	if !defended {
		opts = append(opts, libp2p.ConnectionGater(&handshakeGate{most: 26}))
	}
	h, err := c.host(opts...)
	if err != nil {
		return 0, err
	}
	n, err := c.nodeOn(h, node.WithMaxConnections(32))
	if err != nil {
		return 0, err
	}
	for range 40 {
		if err := c.halfHandshake(ctx, h); err != nil {
			return 0, err
		}
	}
	return c.reaches(ctx, n)
}

func (c *cast) halfHandshake(ctx context.Context, h host.Host) error {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return err
	}
	tr, err := noise.New(noise.ID, key, nil)
	if err != nil {
		return err
	}
	addr, err := manet.ToNetAddr(h.Addrs()[0])
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return err
	}
	c.closers = append(c.closers, func() { _ = conn.Close() })
	if _, err := multistream.SelectOneOf([]string{noise.ID}, conn); err != nil {
		return err
	}
	_, err = tr.SecureOutbound(ctx, conn, h.ID())
	return err
}

func rebinding(ctx context.Context, defended bool) (float64, error) {
	served := http.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if defended {
		served = httpapi.Guard(served)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	s := http.Server{Handler: served, ReadHeaderTimeout: time.Second}
	defer func() { _ = s.Close() }()
	go func() { _ = s.Serve(l) }()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+"/routing/v1/providers/x", nil)
	if err != nil {
		return 0, err
	}
	r.Host = "rebound.example"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return truth(answer.StatusCode == http.StatusOK), answer.Body.Close()
}
