package admit

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	msmux "github.com/multiformats/go-multistream"
)

// open opens an inbound connection of a /24 of a /16.
func open(d *Door, network, part int) (*connection, error) {
	return openFrom(d, fmt.Sprintf("/ip4/10.%d.%d.1/tcp/1", network, part))
}

func openFrom(d *Door, addr string) (*connection, error) {
	a := multiaddr.StringCast(addr)
	c, err := d.OpenConnection(network.DirInbound, true, a)
	if err != nil {
		return nil, err
	}
	return c.(*connection), nil
}

// TestSharing: groups that open all connections that they can leave some to another group, and give theirs back. It
// does not matter whether they take turns or come one after the other.
func TestSharing(t *testing.T) {
	const most = 90
	for _, c := range []struct{ groups, each int }{{1, 1}, {8, 1}, {8, most}, {16, most}, {64, 1}} {
		d := NewDoor(&network.NullResourceManager{}, most)
		var had []*connection
		for i := range c.groups * most {
			if c, err := open(d, 1+i/c.each%c.groups, i%250); err == nil {
				had = append(had, c)
			}
		}
		if len(had) < most/3 {
			t.Errorf("%v have %d connections, want a third of %d at least", c, len(had), most)
		}
		another, err := open(d, 0, 1)
		if err != nil {
			t.Errorf("beside %d connections of %v there is none for another group", len(had), c)
			continue
		}
		for _, c := range append(had, another) {
			c.Done()
			c.Done() // it counts once
		}
		if n := d.places.Held(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	}
	d := NewDoor(&network.NullResourceManager{}, 1)
	for range 3 { // neither our own nor those without an address count
		if _, err := d.OpenConnection(network.DirOutbound, true, multiaddr.StringCast("/ip4/10.0.0.1/tcp/1")); err != nil {
			t.Error(err)
		}
		if _, err := d.OpenConnection(network.DirInbound, true, multiaddr.StringCast("/memory/1")); err != nil {
			t.Error(err)
		}
	}
}

// TestWideNetworks: connections from each part of one wide network leave some to another network, and to another part.
// Within the wide network, those of one part leave some to another.
func TestWideNetworks(t *testing.T) {
	const most = 128
	for _, c := range []struct{ name, wide, other, part, otherPart string }{
		{"IPv4", "/ip4/45.9.%d.1/tcp/1", "/ip4/46.9.0.1/tcp/1", "/ip4/45.9.0.%d/tcp/1", "/ip4/45.9.251.1/tcp/1"},
		{"IPv6", "/ip6/2a01:4:%x::1/tcp/1", "/ip6/2a01:5::1/tcp/1", "/ip6/2a01:4:0:%x::1/tcp/1", "/ip6/2a01:4:251::1/tcp/1"},
	} {
		for _, takes := range []struct{ all, another string }{{c.wide, c.other}, {c.wide, c.otherPart}, {c.part, c.otherPart}} {
			d, had := NewDoor(&network.NullResourceManager{}, most), 0
			for i := range 250 {
				if _, err := openFrom(d, fmt.Sprintf(takes.all, i)); err == nil {
					had++
				}
			}
			if had < most/4 {
				t.Errorf("%s: %s has %d connections, want a quarter of %d at least", c.name, takes.all, had, most)
			}
			if _, err := openFrom(d, takes.another); err != nil {
				t.Errorf("%s: beside %d connections of %s there is none for %s", c.name, had, takes.all, takes.another)
			}
		}
	}
}

// TestGivesWay: when all places are taken, a newcomer has that of a connection that is known, or of a half-open one, whose
// handshake then fails. The connection of a linked peer stays.
func TestGivesWay(t *testing.T) {
	d, table := NewDoor(&network.NullResourceManager{}, 1), New(1e6, 1, func(p peer.ID) bool { return p == "link" })
	d.table.Store(table)
	known := must(open(d, 1, 1))
	if err := known.SetPeer("p"); err != nil {
		t.Error(err)
	}
	half := must(open(d, 2, 1))
	if known.ctx.Err() == nil {
		t.Error("the known connection stays")
	}
	linked := must(open(d, 3, 1))
	if half.SetPeer("p") == nil {
		t.Error("the half-open connection stays")
	}
	if err := linked.SetPeer("link"); err != nil {
		t.Error(err)
	}
	if _, err := open(d, 4, 1); err == nil || linked.ctx.Err() != nil {
		t.Error("the connection of a linked peer gives way")
	}
}

// TestInventedAddresses: QUIC connections from an address of each network, which need not be true, take half of the
// places.
func TestInventedAddresses(t *testing.T) {
	const most = 128
	d := NewDoor(&network.NullResourceManager{}, most)
	for i := range 250 {
		if !d.VerifySourceAddress(&net.UDPAddr{IP: net.IPv4(10, byte(i), 0, 1), Port: 1}) {
			_, _ = open(d, i, 1)
		}
	}
	if got := d.places.Held(); got != most/2 {
		t.Errorf("%d of %d connections are from addresses that nobody has shown to be true, want half", got, most)
	}
}

// guarded returns a door, and the table in which its connections pay, with a sixth of a processor for strangers.
func guarded(work float64) (*Door, *Table) {
	d := NewDoor(&network.NullResourceManager{}, 1<<20)
	table := New(work/6, 1, func(peer.ID) bool { return false })
	d.table.Store(table)
	return d, table
}

// TestHandshakesPay: eight networks that open connections without end, from other parts each time, have the handshakes
// for which there is time. Each connection of another network is let in, and pays for what its handshake took.
// Without the limit they have all.
func TestHandshakesPay(t *testing.T) {
	const during, every = time.Second, 150 * time.Millisecond
	for _, work := range []float64{1, 1e6} {
		d, _ := guarded(work)
		had, tried, honest, asked := 0, 0, 0, 0
		began := time.Now()
		for ; time.Since(began) < during; tried++ {
			if c, err := open(d, 1+tried%8, tried/8%250); err == nil {
				had++
				c.Done() // it was never known
			}
			if time.Since(began) >= time.Duration(asked)*every {
				asked++
				if c, err := open(d, 0, 1); err == nil {
					honest++
					c.pays.Load().refund(Handshake - UsualHandshake)
					c.Done()
				}
			}
			time.Sleep(200 * time.Microsecond)
		}
		worth := int((during + time.Second) / 6 / Handshake) // with a window's credit
		t.Logf("limit times %g: %d of attackers', %d of %d honest ones, worth %d", work, had, honest, asked, worth)
		if work == 1 && (had > worth*5/4 || honest < asked) {
			t.Errorf("%d handshakes of attackers, want %d at most; %d of %d honest ones", had, worth, honest, asked)
		}
		if work > 1 && had < tried {
			t.Errorf("%d of %d are let in without the limit", had, tried)
		}
	}
}

// reading is a security transport whose handshakes read a byte.
type reading struct{ sec.SecureTransport }

func (reading) SecureInbound(_ context.Context, c net.Conn, _ peer.ID) (sec.SecureConn, error) {
	_, err := c.Read(make([]byte, 1))
	return nil, err
}

// TestHandshakesTakeTurns: of handshakes that begin at once, each processor begins the next one when those before it have
// had their time. Those whose other end is silent have none. By QUIC, nobody is silent.
func TestHandshakesTakeTurns(t *testing.T) {
	const all = 20
	d := NewDoor(&network.NullResourceManager{}, all)
	for name, begin := range map[string]func(done chan<- error){
		"TCP": func(done chan<- error) {
			for i := range 2 {
				near, far := net.Pipe()
				t.Cleanup(func() { _ = far.Close() })
				go func() {
					_, err := turning{reading{}, d.turns}.SecureInbound(t.Context(), near, "")
					done <- err
				}()
				if i > 0 {
					go func() { _, _ = far.Write([]byte{0}) }()
				}
			}
		},
		"QUIC": func(done chan<- error) {
			go func() {
				_, err := d.OpenConnection(network.DirInbound, false, multiaddr.StringCast("/ip4/10.0.0.1/udp/1/quic-v1"))
				done <- err
			}()
		},
	} {
		done, began := make(chan error), time.Now()
		for range all {
			begin(done)
		}
		for range all {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if took, least := time.Since(began), (all/time.Duration(runtime.GOMAXPROCS(0))-1)*Handshake; took < least || took > 50*least {
			t.Errorf("%s: %d handshakes take %v, want %v at least, and not for ever", name, all, took, least)
		}
	}
}

// TestHalfOpenDelaysNobody: a newcomer connects at once, however many handshakes of other networks are half open, and
// wherever in the handshake they stop.
func TestHalfOpenDelaysNobody(t *testing.T) {
	const half = 150
	d, table := guarded(1e6)
	h := hostOf(t, libp2p.ResourceManager(d), d.Security(), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	defer table.Guard(h.Network())()
	to := must(manet.ToNetAddr(h.Addrs()[0])).String()
	least := time.Hour
	for range 3 {
		for i := range half {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(1+i), 0, 1)}}
			c := must(d.DialContext(t.Context(), "tcp", to))
			defer c.Close()
			said := "\x13/multistream/1.0.0\n\x07/noise\n\x00\x20e"
			_ = must(c.Write([]byte(said[:[]int{0, 20, 28, len(said)}[i%4]])))
		}
		from, began := hostOf(t, libp2p.NoListenAddrs), time.Now()
		if err := from.Connect(t.Context(), peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}); err != nil {
			t.Fatal(err)
		}
		least = min(least, time.Since(began))
	}
	if most := half * Handshake / 2 / time.Duration(runtime.GOMAXPROCS(0)); least > most {
		t.Errorf("a newcomer's connection takes %v, want %v at most", least, most)
	}
}

// TestUsualHandshakes: peers with keys of the usual kinds get back what their handshakes did not cost, by each
// transport and security. A peer with a key of another kind is refused, and gets nothing back.
func TestUsualHandshakes(t *testing.T) {
	d, table := guarded(1)
	h := hostOf(t, libp2p.ResourceManager(d), d.Security(), libp2p.Muxer(yamux.ID, Muxer{yamux.DefaultTransport}), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1"))
	defer table.Guard(h.Network())()
	dear, _, err := crypto.ECDSAKeyPairFromKey(must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		by      int // index of the address that is dialled
		opts    []libp2p.Option
		refused bool
	}{
		{"noise", 0, []libp2p.Option{libp2p.Security(noise.ID, noise.New)}, false},
		{"tls", 0, []libp2p.Option{libp2p.Security(libp2ptls.ID, libp2ptls.New)}, false},
		{"quic", 1, nil, false},
		{"noise, P-521", 0, []libp2p.Option{libp2p.Security(noise.ID, noise.New), libp2p.Identity(dear)}, true},
		{"quic, P-521", 1, []libp2p.Option{libp2p.Identity(dear)}, true},
	} {
		from := hostOf(t, append(c.opts, libp2p.NoListenAddrs)...)
		if err := from.Connect(t.Context(), peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()[c.by : c.by+1]}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		conns := h.Network().ConnsToPeer(from.ID()) // the peer of P-521 has two
		in := conns[len(conns)-1]
		if refused := table.Bill(in); refused != c.refused || !usual(in) {
			t.Errorf("%s: refused %t, usual %t", c.name, refused, usual(in))
		}
		if in.Scope().(*connection).pays.Load() != nil {
			t.Errorf("%s: its handshake may be given back again", c.name)
		}
		in.Scope().(*connection).evict()
		for end := time.Now().Add(time.Minute); !in.IsClosed(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: a connection that gives way stays open", c.name)
			}
		}
	}
	for name, s := range map[string]tls.ConnectionState{
		"a certificate of P-521": {CurveID: tls.X25519, PeerCertificates: []*x509.Certificate{{PublicKey: &must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)).PublicKey}}},
		"a certificate of RSA":   {CurveID: tls.X25519, PeerCertificates: []*x509.Certificate{{PublicKey: &rsa.PublicKey{}}}},
		"an exchange on P-521":   {CurveID: tls.CurveP521, PeerCertificates: []*x509.Certificate{{PublicKey: &must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).PublicKey}}},
	} {
		if usualTLS(s) {
			t.Errorf("%s is usual", name)
		}
	}
}

// TestStreamsPay: a peer without credit opens no stream, of whatever protocol, by each transport. Its streams wait, and
// end with its connection.
func TestStreamsPay(t *testing.T) {
	d, _ := guarded(1)
	h := hostOf(t, libp2p.ResourceManager(d), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1"))
	opened := make(chan network.Stream, 100)
	h.SetStreamHandler("/any", func(s network.Stream) { opened <- s })
	for _, a := range h.Addrs() {
		d.table.Store(nil)
		from := hostOf(t, libp2p.NoListenAddrs)
		if err := from.Connect(t.Context(), peer.AddrInfo{ID: h.ID(), Addrs: []multiaddr.Multiaddr{a}}); err != nil {
			t.Fatal(err)
		}
		open := func() {
			if s, err := from.Network().NewStream(t.Context(), h.ID()); err == nil {
				_ = msmux.SelectProtoOrFail[protocol.ID]("/any", s)
			}
		}
		open()
		<-opened
		table := poor().t
		for table.Peer(h.Network(), from.ID()).Pay(time.Second) {
			time.Sleep(time.Millisecond)
		}
		end := table.Guard(h.Network())
		for range 10 {
			go open()
		}
		select {
		case <-opened:
			t.Errorf("%v: a stream is opened without credit", a)
		case <-time.After(300 * time.Millisecond):
		}
		_ = from.Close()
		end()
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// hostOf returns a host that is closed with the test.
func hostOf(t *testing.T, opts ...libp2p.Option) host.Host {
	t.Helper()
	h, err := libp2p.New(append(opts, libp2p.DisableRelay(), libp2p.DisableMetrics())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// TestPaymentEndsWithConnection: a read and a write that wait until their peer can pay end when the connection is closed,
// while the stream's handler runs still.
func TestPaymentEndsWithConnection(t *testing.T) {
	h := hostOf(t, libp2p.ResourceManager(NewDoor(&network.NullResourceManager{}, 100)), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	table, conns, ended := poor().t, make(chan network.Conn), make(chan error, 2)
	h.SetStreamHandler("/any", func(s network.Stream) {
		for table.Of(s.Conn()).Pay(time.Second) {
			time.Sleep(time.Millisecond)
		}
		p := table.Paid(t.Context(), s).(*paid)
		p.writes.Store(negotiation)
		go func() { _, err := p.Write(make([]byte, 10)); ended <- err }()
		conns <- s.Conn()
		_, err := p.Read(make([]byte, 10))
		ended <- err
	})
	from := hostOf(t, libp2p.NoListenAddrs)
	if err := from.Connect(t.Context(), peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}); err != nil {
		t.Fatal(err)
	}
	_ = must(must(from.NewStream(t.Context(), h.ID(), "/any")).Write(make([]byte, 10)))
	conn := <-conns
	select {
	case <-ended:
		t.Error("it does not wait for payment")
	case <-time.After(100 * time.Millisecond):
	}
	_ = conn.Close()
	for range 2 {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Error("it waits for payment still")
		}
	}
}
