package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node/internal/admit"
)

// TestServiceLimits runs a node under a resource manager whose limits let it serve no stream.
func TestServiceLimits(t *testing.T) {
	limits := rcmgr.DefaultLimits
	setServiceLimits(&limits)
	if got := limits.AutoScale().ToPartialLimitConfig().Service[ServiceName].Streams; got < 512 {
		t.Errorf("%v streams, want 512 or more", got)
	}
	rm, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(rcmgr.PartialLimitConfig{
		Service: map[string]rcmgr.ResourceLimits{ServiceName: {StreamsInbound: rcmgr.BlockAllLimit}},
	}.Build(limits.AutoScale())))
	if err != nil {
		t.Fatal(err)
	}
	n := nodeOn(t, hostWith(t, libp2p.ResourceManager(rm)))
	r := &raw{t: t, h: newHost(t)}
	dialTo(t, r.h, info(n))
	if got, err := r.exchange(n, HaveID, frame([]byte{0x0a, 1, 'k'})); err == nil {
		t.Errorf("a stream over the limit is answered: % x", got)
	}
	eventually(t, "the refusal is counted", func() bool { return refusals(t, n)["resources"] > 0 })
}

// TestSilentStreams: eight peers that open as many streams as they can, and say nothing on them, leave some for another.
func TestSilentStreams(t *testing.T) {
	n := nodeOn(t, limitedHost(t, 1))
	for range 8 {
		h := newHost(t)
		dialTo(t, h, info(n))
		for range 64 {
			if _, err := h.Network().ConnsToPeer(n.host.ID())[0].NewStream(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := &raw{t: t, h: newHost(t)}
	dialTo(t, r.h, info(n))
	if _, err := r.exchange(n, HaveID, frame([]byte{0x0a, 1, 'k'})); err != nil {
		t.Error(err)
	}
}

// TestGuarded: a host that is made with Guarded in one word has the node's limits, serves peers of usual keys, and closes
// the connection of a peer whose key is of another kind.
func TestGuarded(t *testing.T) {
	h := hostOf(t, Guarded, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay())
	n := nodeOn(t, h)
	add(t, n, []byte("k"))
	usual := hostIn(t, 1)
	if err := usual.Connect(t.Context(), info(n)); err != nil || !askHave(t.Context(), usual, n.ID(), []byte("k")) {
		t.Errorf("a usual peer is not served: %v", err)
	}
	key, _, err := crypto.ECDSAKeyPairFromKey(must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)))
	if err != nil {
		t.Fatal(err)
	}
	dear := hostOf(t, libp2p.Identity(key), libp2p.NoListenAddrs, libp2p.DisableRelay())
	_ = dear.Connect(t.Context(), info(n))
	eventually(t, "the connection of a peer with a dear key is closed", func() bool {
		return h.Network().Connectedness(dear.ID()) == network.NotConnected && refusals(t, n)["key"] == 1
	})
}

// TestHalfOpenConnections: connections from eight groups of addresses that say nothing leave one to a newcomer, if the
// host has a door.
func TestHalfOpenConnections(t *testing.T) {
	const most = 32
	for _, guarded := range []bool{true, false} {
		limits := rcmgr.DefaultLimits
		setServiceLimits(&limits)
		few := rcmgr.PartialLimitConfig{System: rcmgr.ResourceLimits{ConnsInbound: 2 * most}}.Build(limits.AutoScale())
		m, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(few))
		if err != nil {
			t.Fatal(err)
		}
		if guarded {
			m = admit.NewDoor(m, most)
		}
		h := hostOf(t, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ResourceManager(m), libp2p.DisableRelay())
		to, err := manet.ToNetAddr(h.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 * most {
			from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(1+i%8), 0, 1)}}
			c, err := from.DialContext(t.Context(), "tcp", to.String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		time.Sleep(100 * time.Millisecond) // the host has taken or refused them
		err = hostIn(t, 200).Connect(t.Context(), peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
		if (err == nil) != guarded {
			t.Errorf("guarded: %t: %v", guarded, err)
		}
	}
}

// windows counts the memory that a connection takes from its host's limit, and how often it took some.
type windows struct {
	network.NullScope
	all         *windows // that of the connection
	times, most atomic.Int64
	held        atomic.Int64
}

func (w *windows) BeginSpan() (network.ResourceScopeSpan, error) { return &windows{all: w}, nil }

func (w *windows) ReserveMemory(bytes int, _ uint8) error {
	w.held.Add(int64(bytes))
	w.all.most.Store(max(w.all.most.Load(), w.all.held.Add(int64(bytes))))
	w.all.times.Add(1)
	return nil
}

func (w *windows) Done() { w.all.held.Add(-w.held.Load()) }

// TestStreamsToAccept: a peer that opens streams faster than they are accepted takes no more of the host's memory than
// the streams that it may have open, and one that is refused.
func TestStreamsToAccept(t *testing.T) {
	const opened = 256
	near, far := net.Pipe()
	w := &windows{}
	here, err := Muxer.NewConn(near, true, w)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = here.Close() }()
	there, err := yamux.DefaultTransport.NewConn(far, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = there.Close() }()
	for range opened {
		if _, err := there.OpenStream(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all streams have come", func() bool { return w.times.Load() == opened })
	if most := w.most.Load() >> 18; most > peerStreams+1 {
		t.Errorf("%d windows of 256 KiB, want %d at most", most, peerStreams+1)
	}
}
