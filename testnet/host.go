package testnet

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/testnet/link"
)

// lineLatency is the time that bytes take from one end to the other, of simulated links and of shaped lines.
const lineLatency = 10 * time.Millisecond

// identity draws a peer's key.
func identity(rng *rand.Rand) (crypto.PrivKey, error) {
	var seed [ed25519.SeedSize]byte
	for i := 0; i < len(seed); i += 8 {
		binary.LittleEndian.PutUint64(seed[i:], rng.Uint64())
	}
	return crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
}

// wires make hosts of one transport.
type wires struct {
	transport Transport
	shape     bool
	sim       *simnet.Simnet // nil unless the transport is Sim
}

func newWires(c *Config) *wires {
	w := &wires{transport: c.Transport, shape: c.Shape}
	if c.Transport == Sim {
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

// host makes the host of peer number i. It has nothing that many hosts in one process do not need: no relay, no NAT, no
// metrics of its own, one transport. It listens where it is said to; the zero value is loopback and any port. Not safe
// for concurrent use.
func (w *wires) host(i int, key crypto.PrivKey, class link.Class, m *meter, at netip.AddrPort) (host.Host, error) {
	options := []libp2p.Option{
		libp2p.Identity(key),
		libp2p.BandwidthReporter(m),
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		libp2p.DisableIdentifyAddressDiscovery(),
		libp2p.ForceReachabilityPublic(),
	}
	if !at.IsValid() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	}
	switch w.transport {
	case TCP:
		options = append(options, libp2p.ListenAddrs(w.transport.address(at)), libp2p.Transport(w.tcp(class)),
			libp2p.Security(noise.ID, noise.New), muxer())
	case QUIC:
		options = append(options, libp2p.ListenAddrs(w.transport.address(at)), libp2p.Transport(libp2pquic.NewTransport))
	case Sim:
		rate := simnet.LinkSettings{BitsPerSecond: int(class.Rate)}
		address := fmt.Sprintf("/ip4/%s/udp/8000/quic-v1", simnet.IntToPublicIPv4(i))
		options = append(options, libp2p.ListenAddrStrings(address), libp2p.Transport(libp2pquic.NewTransport),
			simlibp2p.QUICSimnet(w.sim, simnet.NodeBiDiLinkSettings{Uplink: rate, Downlink: rate}))
	}
	h, err := libp2p.New(options...)
	if err != nil {
		return nil, fmt.Errorf("testnet: host of peer %d: %w", i, err)
	}
	return h, nil
}

// address is how libp2p writes an address of the transport, TCP or QUIC.
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
