package daemon

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// TestDefaultPortTaken: a daemon on the default port takes another, the same each time, when that is taken, and says
// so. On a port that its user named, it ends.
func TestDefaultPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:4101")
	if err != nil {
		t.Skipf("another program may give the default port back at any time: %v", err)
	}
	defer func() { _ = taken.Close() }()
	r := newRepo(t)
	set := func(listen ...string) { configure(t, r, func(c *repo.Config) { c.Addresses.Listen = listen }) }
	set("/ip4/127.0.0.1/tcp/4101", "/ip4/127.0.0.1/udp/4101/quic-v1")
	var last []string
	for range 2 {
		var log lines // something may log to the end
		ctx, cancel := context.WithCancel(t.Context())
		var s Started
		o := Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Ready: func(got Started) { s = got; cancel() }}
		noErr(t, Run(ctx, r, o))
		if len(s.Addresses) != 2 || strings.Contains(s.Addresses[0], "/4101/") || last != nil && !slices.Equal(s.Addresses, last) {
			t.Errorf("listened on %v, and on %v before", s.Addresses, last)
		}
		if said := strings.Join(log.all(), ""); !strings.Contains(said, "the default port is taken: listening on another") {
			t.Errorf("no word of it in the log:\n%s", said)
		}
		last = s.Addresses
	}

	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	set("/ip4/127.0.0.1/tcp/" + port)
	err = Run(t.Context(), r, Options{Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "addresses.listen: /ip4/127.0.0.1/tcp/"+port) {
		t.Errorf("a port that is named and taken: %v", err)
	}
}

// TestSharedPort: two daemons that begin at the same time see that they share the TCP port.
func TestSharedPort(t *testing.T) {
	first, port := hostAndUDP(t)
	listen := []string{"/ip4/127.0.0.1/tcp/" + port, "/ip4/127.0.0.1/udp/" + port + "/quic-v1"}
	second := must(libp2p.New(libp2p.ListenAddrStrings(listen...)))
	defer func() { _ = second.Close() }()
	if !sharesPort(second, listen) || sharesPort(first, listen[:1]) {
		t.Errorf("shared: %v, %v; want true, false", sharesPort(second, listen), sharesPort(first, listen[:1]))
	}
}

// hostAndUDP is a host on a TCP port, and takes the UDP port of that number, too.
func hostAndUDP(t *testing.T) (h host.Host, port string) {
	t.Helper()
	for range 100 {
		h := must(libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay()))
		t.Cleanup(func() { _ = h.Close() })
		port := must(h.Network().ListenAddresses()[0].ValueForProtocol(ma.P_TCP))
		if udp, err := net.ListenPacket("udp", "127.0.0.1:"+port); err == nil {
			t.Cleanup(func() { _ = udp.Close() })
			return h, port
		}
	}
	t.Fatal("no TCP port whose UDP port is free")
	return nil, ""
}

// TestWithPort: the port is replaced where it is one, and the addresses of relays stay.
func TestWithPort(t *testing.T) {
	listen := []string{"/ip4/0.0.0.0/tcp/4101", "/ip4/0.0.0.0/tcp/4101/ws", "/ip6/::/udp/4101/quic-v1"}
	if !onPort(listen, repo.DefaultPort) || onPort(append(listen, "/ip4/0.0.0.0/tcp/41010"), repo.DefaultPort) {
		t.Error("addresses are taken for others")
	}
	want := []string{"/ip4/0.0.0.0/tcp/5", "/ip4/0.0.0.0/tcp/5/ws", "/ip6/::/udp/5/quic-v1", "/ip4/0.0.0.0/tcp/41010"}
	if got := withPort(append(listen, "/ip4/0.0.0.0/tcp/41010"), 5); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if a, b := ownPorts(peer.ID("a")), ownPorts(peer.ID("b")); slices.Equal(a, b) || !slices.Equal(a, ownPorts("a")) || slices.Min(a) < repo.FirstPort || slices.Max(a) >= repo.EndPort {
		t.Errorf("ports %v and %v", a, b)
	}
}
