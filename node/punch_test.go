package node

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	ma "github.com/multiformats/go-multiaddr"
)

// TestHolesAreFew: holes are punched to eight addresses of the other end at most, none of them by a name, and none that
// it has named by identify. What the host's program knows of the peer stays.
func TestHolesAreFew(t *testing.T) {
	var c libp2p.Config
	if err := c.Apply(HolePunching); err != nil || !c.EnableHolePunching {
		t.Fatalf("no holes are punched: %v", err)
	}
	c.Peerstore = must(pstoremem.NewPeerstore())
	defer func() { _ = c.Peerstore.Close() }()
	for i := range 100 {
		c.Peerstore.AddAddr("p", ma.StringCast(fmt.Sprintf("/ip4/5.6.7.%d/tcp/1", i)), peerstore.ConnectedAddrTTL)
	}
	c.Peerstore.AddAddr("p", ma.StringCast("/ip4/5.6.8.1/tcp/1"), peerstore.PermanentAddrTTL)
	theirs := []ma.Multiaddr{ma.StringCast("/dns4/victim.example/tcp/1"), ma.StringCast("/dnsaddr/victim.example")}
	for i := range 20 {
		theirs = append(theirs, ma.StringCast(fmt.Sprintf("/ip4/1.2.3.%d/udp/1/quic-v1", i)))
	}
	got := few{&c}.FilterRemote("p", theirs)
	if known := c.Peerstore.Addrs("p"); len(known) != 1 {
		t.Errorf("libp2p dials %d addresses besides, want that of the program", len(known))
	}
	if len(got) != 8 {
		t.Errorf("%d addresses are dialled, want 8", len(got))
	}
	for _, a := range got {
		if !isByIP(a) {
			t.Errorf("%v is dialled", a)
		}
	}
}
