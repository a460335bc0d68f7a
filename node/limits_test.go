package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/quic-go/quic-go"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/limits"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestServiceLimits runs a node under a resource manager whose owner lets it serve no stream.
func TestServiceLimits(t *testing.T) {
	rm, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(rcmgr.PartialLimitConfig{
		Service: map[string]rcmgr.ResourceLimits{ServiceName: {StreamsInbound: rcmgr.BlockAllLimit}},
	}.Build(rcmgr.DefaultLimits.AutoScale())))
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

// fewBytes returns a resource manager with a node's limits, and a limit of memory.
func fewBytes(memory int64) network.ResourceManager {
	limits := rcmgr.DefaultLimits
	setLimits(&limits)
	few := rcmgr.PartialLimitConfig{System: rcmgr.ResourceLimits{Memory: rcmgr.LimitVal64(memory)}}
	return must(rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(few.Build(limits.Scale(1<<30, 4096)))))
}

// TestSilentStreams: peers that open as many streams as they can, and say nothing on them, leave links and strangers
// theirs, whatever the host's limit of memory is.
func TestSilentStreams(t *testing.T) {
	for _, c := range []struct {
		peers, each int
		memory      int64
	}{{8, 64, 256 << 20}, {8, 64, 1 << 20}, {32, 300, 8 << 20}} {
		n := nodeOn(t, hostWith(t, libp2p.ResourceManager(fewBytes(c.memory)), libp2p.Muxer(yamux.ID, Muxer)))
		add(t, n, []byte("ours"))
		link, stranger := newNode(t), newHost(t)
		add(t, link, []byte("theirs"))
		connect(t, link, n)
		dialTo(t, stranger, info(n))
		for i := range c.peers {
			h := hostIn(t, i)
			dialTo(t, h, info(n))
			for range c.each {
				if _, err := h.Network().ConnsToPeer(n.ID())[0].NewStream(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 10 {
			if !askHave(t.Context(), stranger, n.ID(), []byte("ours")) {
				t.Errorf("%+v: a stranger is not served", c)
			}
			if !askHave(t.Context(), link.host, n.ID(), []byte("ours")) || !askHave(t.Context(), n.host, link.ID(), []byte("theirs")) {
				t.Errorf("%+v: a link fails", c)
			}
		}
	}
}

// TestStreamsWithoutNeed: while there are places, a peer that has a few dozen streams open, each with a question of which
// a part is missing, has another question answered. A node asks a peer that has not answered as many questions yet.
func TestStreamsWithoutNeed(t *testing.T) {
	const open = peerStreams * 3 / 4
	n := nodeOn(t, hostWith(t, libp2p.ResourceManager(fewBytes(256<<20)), libp2p.Muxer(yamux.ID, Muxer)))
	add(t, n, []byte("ours"))
	h := hostIn(t, 1)
	h.SetStreamHandler(wire.ProtocolIn("venn", HaveID), func(network.Stream) {})
	dialTo(t, h, info(n))
	for i := range open {
		s, err := h.NewStream(t.Context(), n.ID(), wire.ProtocolIn("venn", HaveID))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte{100}); err != nil {
			t.Fatal(err)
		}
		asked, err := n.streams.Open(t.Context(), h.ID(), HaveID)
		if err != nil {
			t.Fatalf("question %d to the peer: %v", i, err)
		}
		defer asked.End(nil)
	}
	eventually(t, "the streams are open", func() bool { return n.streams.Admit.Held() == open })
	if !askHave(t.Context(), h, n.ID(), []byte("ours")) {
		t.Error("another question is not answered")
	}
}

// TestWindows: strangers that open a stream each leave another peer its own, whatever the host's limit of memory is. With
// libp2p's muxer alone, windows of 256 KiB take the limit, and the peer loses its connection.
func TestWindows(t *testing.T) {
	for _, muxer := range []network.Multiplexer{Muxer, yamux.DefaultTransport} {
		m := fewBytes(4 << 20)
		// opens reports whether a new peer may open a stream.
		opens := func(i int) bool {
			scope := must(m.OpenConnection(network.DirInbound, true, ma.StringCast(fmt.Sprintf("/ip4/1.2.%d.4/tcp/1", i))))
			if err := scope.SetPeer(peer.ID(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			near, far := net.Pipe()
			here, there := must(muxer.NewConn(near, true, scope.PeerScope())), must(yamux.DefaultTransport.NewConn(far, false, nil))
			t.Cleanup(func() { _, _ = here.Close(), there.Close() })
			if _, err := there.OpenStream(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := here.AcceptStream()
			return err == nil
		}
		for i := range 20 {
			opens(i)
		}
		if got, want := opens(20), muxer == Muxer; got != want {
			t.Errorf("%T: another peer may open a stream: %t, want %t", muxer, got, want)
		}
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

// TestIdentifyIsForAll: 64 identities that ask a host to identify itself, as often as they can, and read no answer, leave
// others what they need: a newcomer and the host identify each other, and the host still identifies a peer that it dials.
// The identities hold little memory.
func TestIdentifyIsForAll(t *testing.T) {
	const identities, most = 64, 64 << 20
	at := libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1")
	n := nodeOn(t, hostOf(t, Guarded, libp2p.DisableRelay(), at))
	for i := range 80 { // what it says does not fit into a packet: short answers wait for nobody
		n.host.SetStreamHandler(protocol.ID(fmt.Sprintf("/application/%d/1.0.0", i)), func(network.Stream) {})
	}
	by := slices.IndexFunc(n.host.Addrs(), func(a ma.Multiaddr) bool { _, err := a.ValueForProtocol(ma.P_UDP); return err == nil })
	_, to, err := manet.DialArgs(n.host.Addrs()[by].Decapsulate(ma.StringCast("/quic-v1")))
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	for range identities {
		holdsIdentify(t, newStranger(t).key, n.ID(), to)
	}
	pause(t.Context(), 200*time.Millisecond) // the host begins to answer
	more := int(heap() - before)
	streams := 0
	for _, c := range n.host.Network().Conns() {
		streams += len(c.GetStreams())
	}
	t.Logf("%d streams open, %d KiB more", streams, more>>10)
	if more > most {
		t.Errorf("%d MiB more", more>>20)
	}
	identify := func(from, to host.Host) {
		if err := from.Connect(t.Context(), peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]host.Host{{from, to}, {to, from}} {
			eventually(t, "each knows what the other speaks", func() bool {
				speaks, err := pair[0].Peerstore().GetProtocols(pair[1].ID())
				return err == nil && len(speaks) > 0
			})
		}
	}
	identify(hostIn(t, 1), n.host)
	identify(n.host, hostIn(t, 2))
}

// holdsIdentify connects by QUIC, and opens as many streams of identify as it may. Their windows have room for the words
// that choose the protocol alone, so the other end never finishes its answers.
func holdsIdentify(t *testing.T, key crypto.PrivKey, p peer.ID, at string) {
	t.Helper()
	conf, _ := must(libp2ptls.NewIdentity(key)).ConfigForPeer(p)
	conf.NextProtos = []string{"libp2p"}
	const window = 64
	var c *quic.Conn
	eventually(t, "credit for a handshake", func() (ok bool) {
		var err error
		c, err = quic.DialAddr(t.Context(), at, conf, &quic.Config{InitialStreamReceiveWindow: window, MaxStreamReceiveWindow: window, MaxIncomingStreams: 1 << 10})
		return err == nil
	})
	t.Cleanup(func() { _ = c.CloseWithError(0, "") })
	for range peerStreams {
		s, err := c.OpenStreamSync(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"/multistream/1.0.0\n", identify.ID + "\n"} {
			if _, err := s.Write(append([]byte{byte(len(word))}, word...)); err != nil {
				return // more than the peer may have
			}
		}
	}
}

// TestHalfOpenConnections: connections from eight groups of addresses that say nothing leave one to a newcomer, if the
// host has a door.
func TestHalfOpenConnections(t *testing.T) {
	const most = 32
	for _, guarded := range []bool{true, false} {
		limits := rcmgr.DefaultLimits
		setLimits(&limits)
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

// TestEndlessQuestions: who asks for a protocol that the host has not, again and again before any handshake, gets the
// answers that its network pays for; so does who pings a WebSocket. Without the limit it gets as many as it asks for. An
// honest peer gets in meanwhile.
func TestEndlessQuestions(t *testing.T) {
	const upgrade = "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	for _, c := range []struct {
		at, first, question string
		answer, frames      int64 // bytes of an answer, and what it pays
	}{
		{"/ip4/127.0.0.1/tcp/0", "\x13/multistream/1.0.0\n", "\x02x\n", 4, 3}, // two reads and a write
		{"/ip4/127.0.0.1/tcp/0/ws", upgrade, "\x89\x80\x00\x00\x00\x00", 2, 1},
	} {
		var answers [2]int64
		for i, work := range []float64{.1, 1e6} {
			h := hostOf(t, libp2p.ListenAddrStrings(c.at, "/ip4/127.0.0.1/tcp/0"), Guarded, libp2p.DisableRelay())
			n := nodeOn(t, h, WithLimits(limits.Limits{Work: work}))
			at := slices.IndexFunc(h.Addrs(), func(a ma.Multiaddr) bool {
				_, err := a.ValueForProtocol(ma.P_WS)
				return (err == nil) == strings.HasSuffix(c.at, "ws")
			})
			conn, err := net.Dial("tcp", must(manet.ToNetAddr(h.Addrs()[at].Decapsulate(ma.StringCast("/ws")))).String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			began := time.Now()
			_ = conn.SetDeadline(began.Add(2 * time.Second))
			_, _ = conn.Write([]byte(c.first))
			_, err = conn.Read(make([]byte, 1000))
			go func() {
				for err == nil {
					_, err = conn.Write([]byte(strings.Repeat(c.question, 1000)))
				}
			}()
			bytes, _ := io.Copy(io.Discard, conn)
			answers[i] = bytes / c.answer
			const first = 40                                                                     // by the price of a handshake
			frames, took := float64(c.frames*answers[i]), float64(time.Since(began)+time.Second) // with a window's credit
			worth := first + took*work*float64(runtime.GOMAXPROCS(0))/3/2/float64(admit.Frame)
			t.Logf("%s, limit times %g: %d answers for %.0f frames, worth %.0f", c.at, work, answers[i], frames, worth)
			if i == 0 && (frames > worth || frames < first) {
				t.Errorf("%s: %.0f frames, want %.0f at most", c.at, frames, worth)
			}
			dialPaid(t, hostIn(t, 200), n)
		}
		if answers[1] < 5*answers[0] {
			t.Errorf("%s: %d answers without the limit: the attack does nothing", c.at, answers[1])
		}
	}
}
