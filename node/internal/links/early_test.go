package links_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node/internal/links"
)

func hostOf(t *testing.T, options ...libp2p.Option) host.Host {
	t.Helper()
	h, err := libp2p.New(append(options, libp2p.DisableRelay(), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// dial returns the error of a dial of one host by another.
func dial(t *testing.T, from, to host.Host) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return from.Connect(ctx, peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()})
}

// TestEarly: the handshake begins before the other end has said a word.
func TestEarly(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at, err := manet.FromNetAddr(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	from, silent := hostOf(t, libp2p.Security(noise.ID, noise.New), links.Early(nil)), hostOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = from.Connect(ctx, peer.AddrInfo{ID: silent.ID(), Addrs: append(silent.Addrs()[:0], at)})
	}()
	defer func() { cancel(); <-ended }()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	const chosen = "\x13/multistream/1.0.0\n\x07/noise\n"
	const first = 2 + 32 // bytes of Noise's first message: its length and a key
	said := make([]byte, len(chosen)+first)
	if k, err := io.ReadFull(c, said); err != nil {
		t.Fatalf("%d of %d bytes: %v", k, len(said), err)
	}
	if !strings.HasPrefix(string(said), chosen) {
		t.Errorf("it begins with %q", said[:len(chosen)])
	}
}

// TestEarlyConnects: hosts connect, in either order of the transports that the other end offers, and in a private
// network. A dial of a host without Noise fails.
func TestEarlyConnects(t *testing.T) {
	t.Parallel()
	noiseFirst := libp2p.ChainOptions(libp2p.Security(noise.ID, noise.New), libp2p.Security(libp2ptls.ID, libp2ptls.New))
	tlsFirst := libp2p.ChainOptions(libp2p.Security(libp2ptls.ID, libp2ptls.New), libp2p.Security(noise.ID, noise.New))
	key := libp2p.PrivateNetwork([]byte("a key that all of a network have"))
	for name, c := range map[string]struct{ from, to libp2p.Option }{
		"both":            {noiseFirst, noiseFirst},
		"TLS first":       {tlsFirst, noiseFirst},
		"other order":     {noiseFirst, tlsFirst},
		"private network": {libp2p.ChainOptions(noiseFirst, key), libp2p.ChainOptions(noiseFirst, key)},
	} {
		from, to := hostOf(t, c.from, links.Early(nil)), hostOf(t, c.to, links.Early(nil))
		if err := dial(t, from, to); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	from, to := hostOf(t, noiseFirst, links.Early(nil)), hostOf(t, libp2p.Security(libp2ptls.ID, libp2ptls.New))
	if dial(t, from, to) == nil {
		t.Error("a host without Noise is connected")
	}
}
