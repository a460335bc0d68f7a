package node

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	punchpb "github.com/libp2p/go-libp2p/p2p/protocol/holepunch/pb"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	identifypb "github.com/libp2p/go-libp2p/p2p/protocol/identify/pb"
	"github.com/libp2p/go-msgio/pbio"
	ma "github.com/multiformats/go-multiaddr"
)

// TestHolesAreFew: a peer that comes by a relay, and has holes punched, has the host dial eight addresses that it names
// for them and eight that it says by identify, whenever it says so. It does after the host has looked at the former.
func TestHolesAreFew(t *testing.T) {
	listener := must(net.Listen("tcp4", "0.0.0.0:0"))
	defer listener.Close()
	var mu sync.Mutex
	dialled := make(map[string]bool)
	go func() {
		for c, err := listener.Accept(); err == nil; c, err = listener.Accept() {
			mu.Lock()
			dialled[c.LocalAddr().String()] = true
			mu.Unlock()
			_ = c.Close()
		}
	}()
	bait := func(network int) (addrs [][]byte) {
		for i := range 100 {
			addrs = append(addrs, ma.StringCast(fmt.Sprintf("/ip4/127.0.%d.%d/tcp/%d", network, 1+i, listener.Addr().(*net.TCPAddr).Port)).Bytes())
		}
		return append([][]byte{ma.StringCast("/dns4/localhost/tcp/1").Bytes()}, addrs...)
	}
	local := libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0")
	relay := hostOf(t, local, libp2p.ForceReachabilityPublic(), libp2p.EnableRelayService())
	h := hostOf(t, local, Guarded, HolePunching,
		libp2p.AddrsFactory(func([]ma.Multiaddr) []ma.Multiaddr { return []ma.Multiaddr{ma.StringCast("/ip4/8.8.8.8/tcp/1")} }))
	nodeOn(t, h)
	eventually(t, "holes can be punched", func() bool { return slices.Contains(h.Mux().Protocols(), holepunch.Protocol) })
	eventually(t, "a reservation", func() bool {
		_, err := client.Reserve(t.Context(), h, infoOf(relay))
		return err == nil
	})
	s := hostOf(t, libp2p.NoListenAddrs, libp2p.EnableRelay())
	done := make(chan error, 3)
	s.SetStreamHandler(holepunch.Protocol, func(str network.Stream) {
		defer str.Close()
		r, w := pbio.NewDelimitedReader(str, 1<<16), pbio.NewDelimitedWriter(str)
		var msg punchpb.HolePunch
		_ = r.ReadMsg(&msg)
		time.Sleep(time.Second) // the host dials after half of a round trip
		_ = w.WriteMsg(&punchpb.HolePunch{Type: punchpb.HolePunch_CONNECT.Enum(), ObsAddrs: bait(1)[:30]})
		_ = r.ReadMsg(&msg)
		push, err := s.NewStream(network.WithAllowLimitedConn(t.Context(), "test"), h.ID(), identify.IDPush)
		if err == nil {
			err = pbio.NewDelimitedWriter(push).WriteMsg(&identifypb.Identify{ListenAddrs: bait(2), ObservedAddr: bait(1)[0]})
			_ = push.Close()
		}
		done <- err
	})
	at := ma.StringCast(fmt.Sprintf("%s/p2p/%s/p2p-circuit", relay.Addrs()[0], relay.ID()))
	s.Peerstore().AddAddr(h.ID(), at, time.Hour)
	if _, err := s.Network().DialPeer(network.WithAllowLimitedConn(t.Context(), "test"), h.ID()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	pause(t.Context(), time.Second)
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d addresses are dialled", len(dialled))
	if few := 2 * 8; len(dialled) > few || len(dialled) == 0 {
		t.Errorf("%d addresses are dialled, want some, and %d at most", len(dialled), few)
	}
	for _, a := range h.Peerstore().Addrs(s.ID()) {
		if !isByIP(a) {
			t.Errorf("a name is known: %s", a)
		}
	}
}
