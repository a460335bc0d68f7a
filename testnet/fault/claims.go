package fault

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/misdeed"
)

// sign makes and signs the summary of the keys that the peer claims. With Twin, it makes a second one under the same
// epoch.
func (p *Peer) sign() (err error) {
	if p.claim, err = p.signed(p.cfg.Claims); err == nil && p.cfg.Twin {
		p.twin, err = p.signed(p.cfg.Claims[:max(0, len(p.cfg.Claims)-1)])
	}
	return err
}

// signed builds a summary of the claimed keys, always of epoch 1, and signs its header.
func (p *Peer) signed(claims []summary.Fingerprint) (c misdeed.Claim, err error) {
	c.Record = p.record.Envelope
	c.Stream, err = summary.Build(claims, summary.Header{
		Seed: summary.Seed{Network: p.cfg.Network}.Tag(), Origin: string(p.h.ID()),
		Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: time.Hour,
	})
	if err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	payload, err := c.Stream.Header().AppendBinary(nil)
	if err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	if c.Envelope, err = p.seal(payload); err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	return c, nil
}

// Record returns the record of a peer's addresses that the owner of a key has signed.
func Record(key crypto.PrivKey, addrs []ma.Multiaddr) (wire.Record, error) {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return wire.Record{}, err
	}
	b, err := signed.Sign(peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: id, Addrs: addrs}), key)
	return wire.Record{Peer: wire.PeerID(id), Envelope: b}, err
}
