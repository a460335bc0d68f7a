package testnet

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/venn-p2p/venn/node/signed"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/record"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/fault"
)

const (
	victims      = 5                      // peers that a faulty peer is linked with
	misdeedEvery = 250 * time.Millisecond // of one faulty peer
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
		if f.peer, err = fault.Start(h, r.misdeeds(h, rng)); err != nil {
			return fmt.Errorf("testnet: faulty peer %d: %w", i, err)
		}
	}
	return nil
}

// misdeeds is what a faulty peer has to go by.
func (r *run) misdeeds(h host.Host, rng *rand.Rand) fault.Config {
	key := h.Peerstore().PrivKey(h.ID())
	c := fault.Config{
		Topic: node.Topic(Network), Gossip: node.Gossip(true), Hello: node.HelloID, Have: node.HaveID,
		Streams: []protocol.ID{node.HelloID, node.HaveID, node.QueryID, node.PartsID},
		Seed:    summary.Seed{Network: Network}.Tag(), Sign: signed.HeaderSigner(key),
		Every: misdeedEvery, Rand: rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())),
	}
	if e, err := record.Seal(peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}), key); err == nil {
		c.Record, _ = e.Marshal()
	}
	chosen := rng.Perm(len(r.members))[:min(victims, len(r.members))]
	for _, j := range chosen {
		m := r.members[j].host
		c.Victims = append(c.Victims, peer.AddrInfo{ID: m.ID(), Addrs: m.Addrs()})
	}
	for fp := range r.members[chosen[0]].keys.Fingerprints() {
		c.Claims = append(c.Claims, fp)
	}
	return c
}

func (f *faulty) close() {
	if f.peer != nil {
		f.peer.Close()
	}
	_ = f.host.Close()
}
