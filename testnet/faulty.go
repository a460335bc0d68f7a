package testnet

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/venn-p2p/venn/node/signed"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/fault"
)

const (
	victims      = 5                      // peers that a faulty peer is linked with
	misdeedEvery = 250 * time.Millisecond // of one faulty peer
	ghosts       = 32                     // peers that there are not, of which it speaks
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
	key := h.Peerstore().PrivKey(h.ID())
	c := fault.Config{
		Topic: node.Topic(Network), Gossip: node.Gossip(true), Hello: node.HelloID, Have: node.HaveID, Query: node.QueryID,
		Streams: []protocol.ID{node.HelloID, node.HaveID, node.QueryID, node.PartsID},
		Seed:    summary.Seed{Network: Network}.Tag(), Sign: signed.HeaderSigner(key),
		Every: misdeedEvery, Rand: rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())),
	}
	own, err := sealed(key, h.Addrs())
	if err != nil {
		return c, err
	}
	c.Record = own.Envelope
	for range ghosts {
		key, err := identity(rng)
		if err != nil {
			return c, err
		}
		g, err := sealed(key, h.Addrs()) // where nobody of that name is
		if err != nil {
			return c, err
		}
		c.Ghosts = append(c.Ghosts, g)
	}
	chosen := rng.Perm(len(r.members))[:min(victims, len(r.members))]
	for _, j := range chosen {
		m := r.members[j].host
		c.Victims = append(c.Victims, peer.AddrInfo{ID: m.ID(), Addrs: m.Addrs()})
	}
	for fp := range r.members[chosen[0]].keys.Fingerprints() {
		c.Claims = append(c.Claims, fp)
	}
	return c, nil
}

// sealed is a peer's signed record.
func sealed(key crypto.PrivKey, addrs []ma.Multiaddr) (overlay.Record, error) {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return overlay.Record{}, err
	}
	e, err := record.Seal(peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: id, Addrs: addrs}), key)
	if err != nil {
		return overlay.Record{}, err
	}
	b, err := e.Marshal()
	return overlay.Record{Peer: overlay.PeerID(id), Envelope: b}, err
}

func (f *faulty) close() {
	if f.peer != nil {
		f.peer.Close()
	}
	_ = f.host.Close()
}
