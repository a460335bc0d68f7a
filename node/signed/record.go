package signed

import (
	"bytes"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/record"

	"github.com/venn-p2p/venn/node/wire"
)

// OpenRecord returns the peer and addresses that a signed PeerRecord certifies. An error matches ErrSignature.
func OpenRecord(envelope []byte) (peer.AddrInfo, error) {
	if len(envelope) > wire.MaxRecord {
		return peer.AddrInfo{}, fmt.Errorf("%w: peer record of %d bytes, at most %d", ErrSignature, len(envelope), wire.MaxRecord)
	}
	var r peer.PeerRecord
	e, err := record.ConsumeTypedEnvelope(envelope, &r)
	if err != nil {
		return peer.AddrInfo{}, fmt.Errorf("%w: peer record: %w", ErrSignature, err)
	}
	if !bytes.Equal(e.PayloadType, peer.PeerRecordEnvelopePayloadType) || !r.PeerID.MatchesPublicKey(e.PublicKey) {
		return peer.AddrInfo{}, fmt.Errorf("%w: peer record of %s", ErrSignature, r.PeerID)
	}
	return peer.AddrInfo{ID: r.PeerID, Addrs: r.Addrs}, nil
}

// OwnRecord is the host's signed PeerRecord: from its address book, or made of its addresses.
func OwnRecord(h host.Host, key crypto.PrivKey) ([]byte, error) {
	if book, ok := peerstore.GetCertifiedAddrBook(h.Peerstore()); ok {
		if e := book.GetPeerRecord(h.ID()); e != nil {
			if b, err := e.Marshal(); err == nil {
				if info, err := OpenRecord(b); err == nil && len(info.Addrs) > 0 {
					return b, nil
				}
			}
		}
	}
	e, err := record.Seal(peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}), key)
	if err != nil {
		return nil, fmt.Errorf("signed: sign own peer record: %w", err)
	}
	b, err := e.Marshal()
	if err == nil && len(b) > wire.MaxRecord {
		err = fmt.Errorf("signed: own peer record of %d bytes, at most %d: too many addresses", len(b), wire.MaxRecord)
	}
	return b, err
}
