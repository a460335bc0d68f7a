package testnet

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/fault"
	"github.com/venn-p2p/venn/testnet/strategy"
)

const (
	victims = 5  // peers that a faulty peer is linked with
	ghosts  = 32 // peers that it names and that do not exist
)

// faulty is a peer that misbehaves: none of the members, and not asked anything.
type faulty struct {
	host host.Host
	peer *fault.Peer
}

// startFaulty starts the faulty peers, beside the members. Each claims to hold what one of its victims holds.
func (r *run) startFaulty() error {
	rng := r.cfg.random(misbehaving)
	for i := range r.cfg.Faulty {
		key, err := identity(rng)
		if err != nil {
			return fmt.Errorf("testnet: identity of faulty peer %d: %w", i, err)
		}
		h, err := r.wires.host(len(r.members)+i, key, r.cfg.Links[0], newMeter(r.started), netip.AddrPort{})
		if err != nil {
			return err
		}
		f := faulty{host: h}
		r.faulty = append(r.faulty, &f)
		cfg, err := r.misdeeds(h, rng)
		if err == nil {
			cfg.Twin = i%4 == 3
			f.peer, err = fault.Start(h, cfg)
		}
		if err != nil {
			return fmt.Errorf("testnet: faulty peer %d: %w", i, err)
		}
	}
	return nil
}

// misdeeds is what a faulty peer has to go by.
func (r *run) misdeeds(h host.Host, rng *rand.Rand) (fault.Config, error) {
	c, err := misdeedsOf(h, rng)
	if err != nil {
		return c, err
	}
	if c.Ghosts, err = madeUp(h, ghosts, rng); err != nil {
		return c, err
	}
	chosen := rng.Perm(len(r.members))[:min(victims, len(r.members))]
	for _, j := range chosen {
		c.Victims = append(c.Victims, *host.InfoFromHost(r.members[j].host))
	}
	for fp := range r.members[chosen[0]].keys.Fingerprints() {
		c.Claims = append(c.Claims, fp)
	}
	return c, nil
}

// misdeedsOf is what any faulty peer on a host has to go by, except victims, claims and ghosts.
func misdeedsOf(h host.Host, rng *rand.Rand) (fault.Config, error) {
	key := h.Peerstore().PrivKey(h.ID())
	own, err := sealed(key, h.Addrs())
	return fault.Config{
		Topic: node.Topic(Network), Gossip: node.Gossip(true),
		Hello: protocolID(node.HelloID), Have: protocolID(node.HaveID), Query: protocolID(node.QueryID),
		Streams: []protocol.ID{protocolID(node.HelloID), protocolID(node.HaveID), protocolID(node.QueryID), protocolID(node.PartsID)},
		Seed:    summary.Seed{Network: Network}.Tag(), Sign: signed.HeaderSigner(key), Record: own.Envelope,
		Every: strategy.MisdeedEvery, Rand: rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())),
	}, err
}

// madeUp are records of made-up peers. They give the addresses of h, which is none of them.
func madeUp(h host.Host, n int, rng *rand.Rand) (out []wire.Record, err error) {
	for range n {
		key, err := identity(rng)
		if err != nil {
			return nil, err
		}
		g, err := sealed(key, h.Addrs())
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// sealed is a peer's signed record.
func sealed(key crypto.PrivKey, addrs []ma.Multiaddr) (wire.Record, error) {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return wire.Record{}, err
	}
	e, err := record.Seal(peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: id, Addrs: addrs}), key)
	if err != nil {
		return wire.Record{}, err
	}
	b, err := e.Marshal()
	return wire.Record{Peer: wire.PeerID(id), Envelope: b}, err
}

func (f *faulty) close() {
	if f.peer != nil {
		f.peer.Close()
	}
	_ = f.host.Close()
}
