package testnet

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"

	"github.com/venn-p2p/venn/testnet/link"
)

// simLatency is the time a packet takes from one end of a simulated link to the other.
const simLatency = 10 * time.Millisecond

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
	sim       *simnet.Simnet // nil unless the transport is Sim
}

func newWires(t Transport) *wires {
	w := &wires{transport: t}
	if t == Sim {
		w.sim = &simnet.Simnet{LatencyFunc: simnet.StaticLatency(simLatency)}
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
// metrics of its own, one transport. Not safe for concurrent use.
func (w *wires) host(i int, key crypto.PrivKey, class link.Class, m *meter) (host.Host, error) {
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
	switch w.transport {
	case TCP:
		options = append(options, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.Transport(tcp.NewTCPTransport),
			libp2p.Security(noise.ID, noise.New), libp2p.Muxer(yamux.ID, yamux.DefaultTransport))
	case QUIC:
		options = append(options, libp2p.ListenAddrStrings("/ip4/127.0.0.1/udp/0/quic-v1"), libp2p.Transport(libp2pquic.NewTransport))
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
