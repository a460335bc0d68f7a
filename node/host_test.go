package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"github.com/venn-p2p/venn/node/leaktest"
)

func TestMain(m *testing.M) {
	leaktest.AtOnce(6)
	os.Exit(m.Run())
}

// newHost returns a cheap host on loopback, which is closed with the test.
func newHost(t testing.TB) host.Host {
	t.Helper()
	return hostWith(t, libp2p.ResourceManager(&network.NullResourceManager{}))
}

// hostLike returns a host with the identity of another.
func hostLike(t testing.TB, h host.Host) host.Host {
	t.Helper()
	return hostWith(t, libp2p.Identity(h.Peerstore().PrivKey(h.ID())), libp2p.ResourceManager(&network.NullResourceManager{}))
}

func hostWith(t testing.TB, opts ...libp2p.Option) host.Host {
	t.Helper()
	return hostOn(t, "tcp", opts...)
}

// hostOn returns a cheap host on loopback that listens on a transport: "tcp", "quic" or "both".
func hostOn(t testing.TB, transport string, opts ...libp2p.Option) host.Host {
	t.Helper()
	if transport != "quic" {
		opts = append(opts, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.Transport(tcp.NewTCPTransport))
	}
	if transport != "tcp" {
		opts = append(opts, libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1"), libp2p.Transport(libp2pquic.NewTransport))
	}
	return hostOf(t, append(opts,
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.DisableRelay(), libp2p.DisableMetrics(), libp2p.DisableIdentifyAddressDiscovery(), libp2p.ForceReachabilityPublic(),
		libp2p.Security(noise.ID, noise.New), libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
	)...)
}

// hostOf returns a host with some options, and libp2p's defaults. It is closed with the test.
func hostOf(t testing.TB, opts ...libp2p.Option) host.Host {
	t.Helper()
	h := must(libp2p.New(opts...))
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// newNode returns a node on a host of its own; both are closed with the test.
func newNode(t testing.TB, opts ...Option) *Node {
	t.Helper()
	return nodeOn(t, newHost(t), opts...)
}

func nodeOn(t testing.TB, h host.Host, opts ...Option) *Node {
	t.Helper()
	if os.Getenv("VENN_TEST_LOG") != "" {
		log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
		opts = append([]Option{WithLogger(log)}, opts...)
	}
	n := must(New(h, opts...))
	t.Cleanup(func() {
		if t.Failed() {
			s, err := n.Status(context.Background())
			t.Logf("%s: %+v, %v; subscribed %v; connected with %v", n.ID(), s, err, n.mesh.Peers(), n.host.Network().Peers())
		}
		_ = n.Close()
	})
	return n
}

func info(n *Node) peer.AddrInfo { return infoOf(n.host) }

func infoOf(h host.Host) peer.AddrInfo { return *host.InfoFromHost(h) }

// dialer is a host or a node.
type dialer interface {
	Connect(ctx context.Context, to peer.AddrInfo) error
}

func dialTo(t testing.TB, from dialer, to peer.AddrInfo) {
	t.Helper()
	if err := from.Connect(t.Context(), to); err != nil {
		t.Fatal(err)
	}
}

// connect connects a with b. It tries again what fails. Two hosts that dial each other from their listening ports at
// the same moment make one connection. Each is its dialer, so both handshakes fail.
func connect(t testing.TB, a, b *Node) {
	t.Helper()
	eventually(t, "a connection", func() bool {
		err := a.host.Connect(t.Context(), info(b))
		if err != nil {
			t.Log(err)
		}
		return err == nil
	})
}

// keysOf makes n keys under a name.
func keysOf(name string, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = fmt.Appendf(nil, "%s/%d", name, i)
	}
	return out
}

func add(t testing.TB, n *Node, keys ...[]byte) {
	t.Helper()
	if _, err := n.Add(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
}

// subscribe returns the events of some types that happen to a node from now on.
func subscribe(t testing.TB, n *Node, types ...any) <-chan any {
	t.Helper()
	sub := must(n.host.EventBus().Subscribe(types))
	t.Cleanup(func() { _ = sub.Close() })
	return sub.Out()
}

// eventually waits until ok returns true, which is looked at often.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

// knows says whether n holds a part of p's summary at least.
func knows(n, p *Node) bool {
	held, err := n.SummaryOf(context.Background(), p.ID())
	return err == nil && held.Parts() > 0
}

// find returns who a query for one holder finds.
func find(t testing.TB, n *Node, key []byte, o QueryOptions) []peer.ID {
	t.Helper()
	r, err := n.Query(t.Context(), key, o)
	if err != nil {
		t.Fatal(err)
	}
	var out []peer.ID
	for p := range r.Providers() {
		out = append(out, p.ID)
	}
	if _, err := r.Stats(); err != nil {
		t.Fatal(err)
	}
	return out
}

// queried returns what a query has cost and found when it is over.
func queried(t testing.TB, n *Node, key []byte, o QueryOptions) QueryStats {
	t.Helper()
	r, err := n.Query(t.Context(), key, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// look runs f in the loop of a node.
func look(t testing.TB, n *Node, f func(*loop)) {
	t.Helper()
	if err := n.view(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

// inLoop returns what f returns in the loop of a node.
func inLoop[T any](t testing.TB, n *Node, f func(*loop) T) (out T) {
	t.Helper()
	look(t, n, func(l *loop) { out = f(l) })
	return out
}

// statusOf returns the status of a node that runs.
func statusOf(t testing.TB, n *Node) Status {
	t.Helper()
	s, err := n.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// must returns v of what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
