package signed

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/overlay/wire"
)

// Record is the content of a signed PeerRecord. Of two records of a peer, the one with the higher Seq is newer.
type Record struct {
	peer.AddrInfo
	Seq uint64
}

// OpenRecord verifies a signed PeerRecord and returns its content. An error matches ErrSignature.
func OpenRecord(envelope []byte) (Record, error) {
	if len(envelope) > wire.MaxRecord {
		return Record{}, fmt.Errorf("%w: peer record of %d bytes, at most %d", ErrSignature, len(envelope), wire.MaxRecord)
	}
	var r peer.PeerRecord
	e, err := consume(envelope, &r)
	if err != nil {
		return Record{}, fmt.Errorf("signed: peer record: %w", err)
	}
	if !bytes.Equal(e.PayloadType, peer.PeerRecordEnvelopePayloadType) || !r.PeerID.MatchesPublicKey(e.PublicKey) {
		return Record{}, fmt.Errorf("%w: peer record of %s", ErrSignature, r.PeerID)
	}
	return Record{peer.AddrInfo{ID: r.PeerID, Addrs: r.Addrs}, r.Seq}, nil
}

// read returns the content of a signed PeerRecord, without verifying it; the zero PeerRecord if it is not one.
func read(envelope []byte) (r peer.PeerRecord) {
	if e, err := record.UnmarshalEnvelope(envelope); err != nil || e.TypedRecord(&r) != nil {
		return peer.PeerRecord{}
	}
	return r
}

// Seq returns the Seq of a signed PeerRecord, without verifying it; 0 if it is not one.
func Seq(envelope []byte) uint64 { return read(envelope).Seq }

// Signer returns the peer whose key is in an envelope, without verifying the signature; "" if there is none.
func Signer(envelope []byte) wire.PeerID {
	e, err := record.UnmarshalEnvelope(envelope)
	if err != nil {
		return ""
	}
	p, err := peer.IDFromPublicKey(e.PublicKey)
	if err != nil {
		return ""
	}
	return wire.PeerID(p)
}

// OwnRecord returns the host's signed PeerRecord: the one in its address book, or one made of its addresses. If not
// all addresses fit into wire.MaxRecord bytes, it leaves out the least useful ones. before is the record that others
// may hold, or nil. If the addresses are the same, OwnRecord returns before again. Otherwise the new Seq is higher,
// even if the host's clock went back.
func OwnRecord(h host.Host, key crypto.PrivKey, before []byte) ([]byte, error) {
	old, err := OpenRecord(before)
	if err != nil {
		before, old = nil, Record{}
	}
	addrs := slices.Clone(h.Addrs())
	slices.SortStableFunc(addrs, func(a, b ma.Multiaddr) int { return cmp.Compare(useless(a), useless(b)) })
	if book, ok := peerstore.GetCertifiedAddrBook(h.Peerstore()); ok {
		if e := book.GetPeerRecord(h.ID()); e != nil {
			if b, err := e.Marshal(); err == nil {
				if r, err := OpenRecord(b); err == nil && len(r.Addrs) > 0 {
					if r.Seq > old.Seq {
						return b, nil
					}
					addrs = r.Addrs
				}
			}
		}
	}
	if before != nil && slices.EqualFunc(addrs, old.Addrs, ma.Multiaddr.Equal) {
		return before, nil
	}
	for {
		r := peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: h.ID(), Addrs: addrs})
		r.Seq = max(r.Seq, old.Seq+1)
		e, err := record.Seal(r, key)
		if err != nil {
			return nil, fmt.Errorf("signed: sign own peer record: %w", err)
		}
		b, err := e.Marshal()
		if err != nil || len(b) <= wire.MaxRecord || len(addrs) == 0 {
			return b, err
		}
		addrs = addrs[:len(addrs)-1]
	}
}

// useless ranks an address by how little others can use it. Addresses of this machine alone are the most useless, then
// those of browsers' transports, which are long, then those of private networks.
func useless(a ma.Multiaddr) int {
	switch {
	case manet.IsIPLoopback(a):
		return 3
	case has(a, ma.P_CERTHASH):
		return 2
	case !manet.IsPublicAddr(a):
		return 1
	}
	return 0
}

func has(a ma.Multiaddr, protocol int) bool {
	_, err := a.ValueForProtocol(protocol)
	return err == nil
}
