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
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

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

// What the simulator says that connecting takes is what it takes on real hosts.
func TestConnecting(t *testing.T) {
	var hosts [2]host.Host
	for i := range hosts {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay())
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		hosts[i] = h
	}
	port, err := hosts[1].Addrs()[0].ValueForProtocol(ma.P_TCP)
	if err != nil {
		t.Fatal(err)
	}
	by, sent, received := proxy(t, "127.0.0.1:"+port)
	address := ma.StringCast("/ip4/127.0.0.1/tcp/" + strconv.Itoa(by))
	if err := hosts[0].Connect(t.Context(), peer.AddrInfo{ID: hosts[1].ID(), Addrs: []ma.Multiaddr{address}}); err != nil {
		t.Fatal(err)
	}
	const off = 0.25
	least := int64((1 - off) * sim.HandshakeBytes)
	for end := time.Now().Add(time.Minute); min(sent.Load(), received.Load()) < least && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	for total := int64(-1); total != sent.Load()+received.Load(); time.Sleep(500 * time.Millisecond) { // the last of identify
		total = sent.Load() + received.Load()
	}
	for way, n := range map[string]*atomic.Int64{"there": sent, "back": received} {
		if got := float64(n.Load()); got < (1-off)*sim.HandshakeBytes || got > (1+off)*sim.HandshakeBytes {
			t.Errorf("%v bytes %s, the simulator counts %d", got, way, sim.HandshakeBytes)
		}
	}
	_, _ = hosts[0].Close(), hosts[1].Close() // and with them the proxy's connections
}
