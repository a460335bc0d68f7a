package fault

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/testnet/misdeed"
)

const ghostsInHello = 16

// Record returns the record of a peer's addresses that the owner of a key has signed.
func Record(key crypto.PrivKey, addrs []ma.Multiaddr) (wire.Record, error) {
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

// greet says hello with some records.
func (p *Peer) greet(ctx context.Context, to peer.ID, session uint64, records ...wire.Record) error {
	return p.send(ctx, to, p.id(node.HelloID), frame(misdeed.Hello(session, records...).Append(nil)))
}

// some returns up to n records of made-up peers.
func (p *Peer) some(n int) []wire.Record {
	n = min(n, len(p.cfg.Ghosts))
	first := p.cfg.Rand.IntN(len(p.cfg.Ghosts) - n + 1)
	return p.cfg.Ghosts[first : first+n]
}

// introduce says hello again, as a new session, with records of made-up peers.
func (p *Peer) introduce(ctx context.Context, to peer.ID) {
	_ = p.greet(ctx, to, p.cfg.Rand.Uint64()|1, p.some(ghostsInHello)...)
}

// invent answers that made-up peers hold the key.
func (p *Peer) invent(s network.Stream) {
	defer s.Close()
	_ = s.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := wire.ReadFrame(s, wire.MaxQuery, nil); err != nil {
		return
	}
	_, _ = s.Write(frame(wire.Answer{Records: p.cfg.Ghosts[:min(4, len(p.cfg.Ghosts))], Messages: 1, Final: true}.Append(nil)))
}
