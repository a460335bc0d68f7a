package node

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/test"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/overlay/wire"
)

// blackHole returns where datagrams are taken and nothing is answered.
func blackHole(t testing.TB) peer.AddrInfo {
	t.Helper()
	c := must(net.ListenPacket("udp4", "127.0.0.1:0"))
	t.Cleanup(func() { _ = c.Close() })
	port := c.LocalAddr().(*net.UDPAddr).Port
	return peer.AddrInfo{ID: test.RandPeerIDFatal(t), Addrs: []ma.Multiaddr{ma.StringCast(fmt.Sprintf("/ip4/127.0.0.1/udp/%d/quic-v1", port))}}
}

// TestSilentDial: a peer with which no connection can be made is counted on no more long before the dial is given up.
func TestSilentDial(t *testing.T) {
	t.Parallel()
	n := nodeOn(t, hostOn(t, "quic", libp2p.ResourceManager(&network.NullResourceManager{})))
	hole := blackHole(t)
	begun, done := time.Now(), make(chan error, 1)
	go func() { done <- n.Connect(t.Context(), hole) }()
	eventually(t, "it is counted on no more", func() bool {
		return inLoop(t, n, func(l *loop) bool { return l.core.Routing.Suspected(wire.PeerID(hole.ID)) })
	})
	select {
	case err := <-done:
		t.Errorf("it was known after %v, when the dial was over: %v", time.Since(begun), err)
	default:
	}
}
