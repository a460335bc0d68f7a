package node

import (
	"context"
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

// lineless is a connection that is dead, or on which every protocol is refused at once.
type lineless struct {
	network.Conn
	name  string
	dead  bool
	asked chan struct{} // closed at the first stream
}

func (c *lineless) ID() string                    { return c.name }
func (c *lineless) RemotePeer() peer.ID           { return "some peer" }
func (c *lineless) RemoteMultiaddr() ma.Multiaddr { return ma.StringCast("/ip4/127.0.0.1/tcp/1") }
func (c *lineless) IsClosed() bool                { return false }
func (c *lineless) Close() error                  { return nil }
func (c *lineless) GetStreams() []network.Stream  { return nil }
func (c *lineless) NewStream(ctx context.Context) (network.Stream, error) {
	close(c.asked)
	if c.dead {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, network.ErrReset
}

// TestLooksOfTwoConnections: while a dead connection with a peer is probed, another one with it is found alive.
func TestLooksOfTwoConnections(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	dead, live := &lineless{name: "dead", dead: true, asked: make(chan struct{})}, &lineless{name: "live", asked: make(chan struct{})}
	found := make(chan bool)
	go func() { found <- n.look(dead) }()
	<-dead.asked
	if !n.look(live) {
		t.Error("the live connection is called dead")
	}
	if <-found {
		t.Error("the dead connection is called alive")
	}
}
