package daemon

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node"
)

// TestSharing: groups that open all connections that they can leave some to another group, and give theirs back.
func TestSharing(t *testing.T) {
	const most = 90
	for _, groups := range []int{1, 8, 64} {
		s := newSharing(&network.NullResourceManager{}, most)
		open := func(group, host int) (network.ConnManagementScope, error) {
			return s.OpenConnection(network.DirInbound, true, ma.StringCast(fmt.Sprintf("/ip4/10.0.%d.%d/tcp/1", group, host)))
		}
		var had []network.ConnManagementScope
		for i := range groups * most {
			if c, err := open(1+i%groups, i%250); err == nil {
				had = append(had, c)
			}
		}
		if len(had) < most/2 {
			t.Errorf("%d groups have %d connections, want half of %d at least", groups, len(had), most)
		}
		c, err := open(0, 1)
		if err != nil {
			t.Errorf("beside %d connections of %d groups there is none for another", len(had), groups)
			continue
		}
		for _, c := range append(had, c) {
			c.Done()
			c.Done() // it counts once
		}
		if s.all != 0 || len(s.of) != 0 {
			t.Errorf("%d connections of %d groups are left", s.all, len(s.of))
		}
	}
	s := newSharing(&network.NullResourceManager{}, 1)
	for range 3 { // neither our own nor those without an address count
		if _, err := s.OpenConnection(network.DirOutbound, true, ma.StringCast("/ip4/10.0.0.1/tcp/1")); err != nil {
			t.Error(err)
		}
		if _, err := s.OpenConnection(network.DirInbound, true, ma.StringCast("/memory/1")); err != nil {
			t.Error(err)
		}
	}
}

// TestHalfOpenConnections: connections from eight groups of addresses that say nothing leave one to a newcomer, if the
// host shares its connections.
func TestHalfOpenConnections(t *testing.T) {
	const most = 32
	for _, shares := range []bool{true, false} {
		limits := rcmgr.DefaultLimits
		node.SetServiceLimits(&limits)
		few := rcmgr.PartialLimitConfig{System: rcmgr.ResourceLimits{ConnsInbound: most}}.Build(limits.AutoScale())
		m, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(few))
		if err != nil {
			t.Fatal(err)
		}
		if shares {
			m = newSharing(m, most)
		}
		h := hostAt(t, "/ip4/127.0.0.1/tcp/0", libp2p.ResourceManager(m))
		to, err := manet.ToNetAddr(h.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 * most {
			from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+i%8), 1)}}
			c, err := from.DialContext(t.Context(), "tcp", to.String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		time.Sleep(100 * time.Millisecond) // the host has taken or refused them
		err = hostAt(t, "/ip4/127.0.200.1/tcp/0").Connect(t.Context(), peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
		if (err == nil) != shares {
			t.Errorf("shares: %v: %v", shares, err)
		}
	}
}

// hostAt returns a host that listens at an address. It is closed with the test.
func hostAt(t *testing.T, a string, opts ...libp2p.Option) host.Host {
	t.Helper()
	h, err := libp2p.New(append(opts, libp2p.ListenAddrStrings(a), libp2p.DisableRelay())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}
