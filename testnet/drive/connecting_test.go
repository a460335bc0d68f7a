package drive_test

import (
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/testnet/sim"
)

// proxy passes bytes on to an address, and counts those of both ways.
func proxy(t *testing.T, to string) (port int, sent, received *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sent, received = new(atomic.Int64), new(atomic.Int64)
	var all sync.WaitGroup
	all.Go(func() {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		pass := func(w, r net.Conn, n *atomic.Int64) {
			_, _ = io.Copy(io.MultiWriter(w, byteCount{n}), r)
			_ = w.Close()
		}
		all.Go(func() { pass(out, in, sent) })
		all.Go(func() { pass(in, out, received) })
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return l.Addr().(*net.TCPAddr).Port, sent, received
}

type byteCount struct{ n *atomic.Int64 }

func (c byteCount) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// hosts returns two hosts of nodes that listen at an address and speak a node's protocols.
func hosts(t *testing.T, listen string) (two [2]host.Host) {
	t.Helper()
	for i := range two {
		h, err := libp2p.New(node.Guarded, libp2p.ListenAddrStrings(listen), libp2p.DisableRelay())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		for _, id := range []protocol.ID{node.HelloID, node.HaveID, node.QueryID, node.PartsID, node.PeersID, node.TailsID, node.JoinID, node.PubsubID} {
			h.SetStreamHandler(wire.ProtocolIn("venn", id), func(s network.Stream) { _ = s.Reset() })
		}
		two[i] = h
	}
	return two
}

// TestConnecting: what the simulator says that connecting takes is what it takes between hosts of nodes.
func TestConnecting(t *testing.T) {
	two := hosts(t, "/ip4/127.0.0.1/tcp/0")
	port, err := two[1].Addrs()[0].ValueForProtocol(ma.P_TCP)
	if err != nil {
		t.Fatal(err)
	}
	by, sent, received := proxy(t, "127.0.0.1:"+port)
	address := ma.StringCast("/ip4/127.0.0.1/tcp/" + strconv.Itoa(by))
	if err := two[0].Connect(t.Context(), peer.AddrInfo{ID: two[1].ID(), Addrs: []ma.Multiaddr{address}}); err != nil {
		t.Fatal(err)
	}
	const off = 0.25
	settled(sent, received, sim.HandshakeBytes*3/4)
	for way, n := range map[string]*atomic.Int64{"there": sent, "back": received} {
		got := float64(n.Load())
		t.Logf("%v bytes %s", got, way)
		if got < (1-off)*sim.HandshakeBytes || got > (1+off)*sim.HandshakeBytes {
			t.Errorf("%v bytes %s, the simulator counts %d", got, way, sim.HandshakeBytes)
		}
	}
	_, _ = two[0].Close(), two[1].Close() // and with them the proxy's connections
}

// TestConnectingByQUIC: by QUIC a connection takes several times as many bytes, so hosts of nodes dial by TCP first.
func TestConnectingByQUIC(t *testing.T) {
	two := hosts(t, "/ip4/127.0.0.1/udp/0/quic-v1")
	port, err := two[1].Addrs()[0].ValueForProtocol(ma.P_UDP)
	if err != nil {
		t.Fatal(err)
	}
	by, sent, received := packetProxy(t, "127.0.0.1:"+port)
	address := ma.StringCast("/ip4/127.0.0.1/udp/" + strconv.Itoa(by) + "/quic-v1")
	if err := two[0].Connect(t.Context(), peer.AddrInfo{ID: two[1].ID(), Addrs: []ma.Multiaddr{address}}); err != nil {
		t.Fatal(err)
	}
	settled(sent, received, 1)
	t.Logf("%d bytes there, %d back", sent.Load(), received.Load())
	if got := sent.Load() + received.Load(); got < 6*sim.HandshakeBytes {
		t.Errorf("%d bytes, by TCP %d", got, 2*sim.HandshakeBytes)
	}
}

// settled waits until at least some bytes were sent and received, and then until there come no more for half a second.
func settled(sent, received *atomic.Int64, least int64) {
	for end := time.Now().Add(time.Minute); min(sent.Load(), received.Load()) < least && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	for total := int64(-1); total != sent.Load()+received.Load(); time.Sleep(500 * time.Millisecond) { // the last of identify
		total = sent.Load() + received.Load()
	}
}

// packetProxy passes packets on to an address, and counts the bytes of both ways.
func packetProxy(t *testing.T, to string) (port int, sent, received *atomic.Int64) {
	t.Helper()
	in, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out, err := net.Dial("udp", to)
	if err != nil {
		t.Fatal(err)
	}
	sent, received = new(atomic.Int64), new(atomic.Int64)
	var from atomic.Value // net.Addr of who dials
	var all sync.WaitGroup
	all.Go(func() {
		for b := make([]byte, 1<<16); ; {
			k, a, err := in.ReadFrom(b)
			if err != nil {
				return
			}
			from.Store(a)
			sent.Add(int64(k))
			_, _ = out.Write(b[:k])
		}
	})
	all.Go(func() {
		for b := make([]byte, 1<<16); ; {
			k, err := out.Read(b)
			if err != nil {
				return
			}
			received.Add(int64(k))
			_, _ = in.WriteTo(b[:k], from.Load().(net.Addr))
		}
	})
	t.Cleanup(func() { _, _ = in.Close(), out.Close(); all.Wait() })
	return in.LocalAddr().(*net.UDPAddr).Port, sent, received
}
