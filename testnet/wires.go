package testnet

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/testnet/link"
)

// lineLatency is the default one-way latency of simulated links and of shaped lines.
const lineLatency = 10 * time.Millisecond

// identity draws a peer's key.
func identity(rng *rand.Rand) (crypto.PrivKey, error) {
	var seed [ed25519.SeedSize]byte
	for i := 0; i < len(seed); i += 8 {
		binary.LittleEndian.PutUint64(seed[i:], rng.Uint64())
	}
	return crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
}

// stranger is the number of a peer that is not on the roster.
const stranger = -1

// roster numbers peers. It is safe for concurrent use.
type roster struct {
	mu      sync.RWMutex
	numbers map[peer.ID]int
}

// add numbers a peer.
func (r *roster) add(id peer.ID, number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.numbers == nil {
		r.numbers = map[peer.ID]int{}
	}
	r.numbers[id] = number
}

// number returns the number of a peer, or stranger.
func (r *roster) number(id peer.ID) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if n, known := r.numbers[id]; known {
		return n
	}
	return stranger
}

// wires make the hosts of a run, over one transport.
type wires struct {
	transport Transport
	// latency returns the time that bytes take one way over shaped TCP lines, from one peer to another. Either may be
	// stranger. nil: lines are not shaped.
	latency func(from, to int) time.Duration
	roster  *roster
	gate    *gate          // nil: all may connect
	sim     *simnet.Simnet // nil unless the transport is Sim

	mu    sync.Mutex
	began map[string]int // peers that dialled, by the address that they dialled from
}

func newWires(over Transport, r *roster) *wires {
	w := &wires{transport: over, roster: r, began: map[string]int{}}
	if over == Sim {
		w.sim = &simnet.Simnet{LatencyFunc: simnet.StaticLatency(lineLatency)}
		w.sim.Start()
	}
	return w
}

// close ends the simulated network. Hosts are closed before.
func (w *wires) close() {
	if w.sim != nil {
		w.sim.Close()
	}
}

// site has the settings of a host.
type site struct {
	number   int
	key      crypto.PrivKey
	up, down uint64         // rates of its line, bit/s
	listens  netip.AddrPort // address on which it listens; the zero value is loopback and any port
}

// host makes a host and its line. The host lacks all that many hosts in one process do not need: no relay, no NAT, no
// metrics of its own, one transport. Not safe for concurrent use.
func (w *wires) host(at site, m *meter) (host.Host, *link.Line, error) {
	options := []libp2p.Option{
		libp2p.Identity(at.key),
		libp2p.BandwidthReporter(m),
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		libp2p.DisableIdentifyAddressDiscovery(),
		libp2p.ForceReachabilityPublic(),
	}
	if w.gate != nil {
		options = append(options, libp2p.ConnectionGater(gater{w.gate, at.number}))
	}
	if !at.listens.IsValid() {
		at.listens = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	}
	line := link.NewLine(at.up, at.down)
	switch w.transport {
	case TCP:
		options = append(options, libp2p.ListenAddrs(w.transport.address(at.listens)), libp2p.Transport(w.tcp(at.number, line)),
			libp2p.Security(noise.ID, noise.New), muxer())
	case QUIC:
		options = append(options, libp2p.ListenAddrs(w.transport.address(at.listens)), libp2p.Transport(libp2pquic.NewTransport))
	case Sim:
		address := fmt.Sprintf("/ip4/%s/udp/8000/quic-v1", simnet.IntToPublicIPv4(at.number))
		options = append(options, libp2p.ListenAddrStrings(address), libp2p.Transport(libp2pquic.NewTransport),
			simlibp2p.QUICSimnet(w.sim, simnet.NodeBiDiLinkSettings{
				Uplink: simnet.LinkSettings{BitsPerSecond: int(at.up)}, Downlink: simnet.LinkSettings{BitsPerSecond: int(at.down)},
			}))
	}
	h, err := libp2p.New(options...)
	if err != nil {
		return nil, nil, fmt.Errorf("testnet: host of peer %d: %w", at.number, err)
	}
	return h, line, nil
}

// address returns libp2p's form of an address of the transport, TCP or QUIC.
func (t Transport) address(at netip.AddrPort) ma.Multiaddr {
	version, form := "ip4", "/%s/%s/tcp/%d"
	if at.Addr().Is6() {
		version = "ip6"
	}
	if t == QUIC {
		form = "/%s/%s/udp/%d/quic-v1"
	}
	return ma.StringCast(fmt.Sprintf(form, version, at.Addr(), at.Port()))
}

// tcp makes a peer's TCP transport, over its line where lines are shaped.
func (w *wires) tcp(number int, line *link.Line) func(transport.Upgrader, network.ResourceManager) (*tcp.TcpTransport, error) {
	return func(u transport.Upgrader, limits network.ResourceManager) (*tcp.TcpTransport, error) {
		if w.latency != nil {
			u = shaper{u, w, number, line}
		}
		return tcp.NewTCPTransport(u, limits, nil)
	}
}

// dialled returns the latency of a connection that a peer has dialled, and notes from which address.
func (w *wires) dialled(from int, address string, to peer.ID) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began[address] = from
	return w.latency(w.roster.number(to), from)
}

// taken returns the latency of a connection that peer by has accepted from an address, and forgets the address.
func (w *wires) taken(address string, by int) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	from, known := w.began[address]
	if !known {
		from = stranger
	}
	delete(w.began, address)
	return w.latency(from, by)
}

// muxer returns yamux for many hosts in one process. A host that ends closes its connections, and on one machine that
// is seen at once. So idle connections, thousands of them, are not pinged. Their queues of new streams are short, for
// these take most of an idle session's memory.
func muxer() libp2p.Option {
	config := *yamux.DefaultTransport.Config()
	config.EnableKeepAlive = false
	config.MeasureRTTInterval = time.Hour
	config.AcceptBacklog = 64
	return libp2p.Muxer(yamux.ID, (*yamux.Transport)(&config))
}

// systemBuffer is the size in bytes of the operating system's queues of a shaped connection. By themselves they grow to
// megabytes, which a slow line would take minutes to carry.
const systemBuffer = 32 << 10

// shaped puts a connection on a line. The line calls latency when the first bytes have arrived, because the dialler is
// known by then.
func shaped(c manet.Conn, line *link.Line, latency func() time.Duration) manet.Conn {
	if b, ok := c.(interface {
		SetReadBuffer(int) error
		SetWriteBuffer(int) error
	}); ok {
		_ = b.SetReadBuffer(systemBuffer)
		_ = b.SetWriteBuffer(systemBuffer)
	}
	return shapedConn{line.Conn(c, latency), c}
}

// shapedConn is a connection on a line, with the addresses of the one below.
type shapedConn struct {
	net.Conn
	network.ConnMultiaddrs
}
