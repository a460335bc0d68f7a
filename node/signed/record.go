package signed

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Record is the content of a signed PeerRecord. Of two records of a peer, the one with the higher Seq is newer.
type Record struct {
	peer.AddrInfo
	Seq uint64
}

// Sign returns the signed form of a PeerRecord: the public key after its length of one byte, Seq, the number of
// addresses, each address after its length, and the signature that libp2p's envelope of the record would have. Numbers
// and lengths of addresses are varints.
func Sign(r *peer.PeerRecord, key crypto.PrivKey) ([]byte, error) {
	message, err := recordMessage(r)
	if err != nil {
		return nil, fmt.Errorf("signed: sign peer record: %w", err)
	}
	public, signature, err := sign(key, message)
	if err != nil || len(public) > math.MaxInt8 {
		return nil, fmt.Errorf("signed: sign peer record: key of %d bytes: %w", len(public), cmp.Or(err, ErrKey))
	}
	b := append([]byte{byte(len(public))}, public...)
	b = binary.AppendUvarint(b, r.Seq)
	b = binary.AppendUvarint(b, uint64(len(r.Addrs)))
	for _, a := range r.Addrs {
		b = append(binary.AppendUvarint(b, uint64(len(a.Bytes()))), a.Bytes()...)
	}
	return append(b, signature...), nil
}

// recordMessage returns the bytes that a libp2p envelope of a PeerRecord signs: its domain, type and payload, each after
// its length.
func recordMessage(r *peer.PeerRecord) ([]byte, error) {
	payload, err := r.MarshalRecord()
	var b []byte
	for _, part := range [][]byte{[]byte(peer.PeerRecordEnvelopeDomain), peer.PeerRecordEnvelopePayloadType, payload} {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	return b, err
}

// OpenRecord verifies the signed form of a PeerRecord and returns its content. An error matches ErrSignature.
func OpenRecord(envelope []byte) (Record, error) {
	if len(envelope) > wire.MaxRecord {
		return Record{}, fmt.Errorf("%w: peer record of %d bytes, at most %d", ErrSignature, len(envelope), wire.MaxRecord)
	}
	r, key, signature, err := read(envelope)
	if err != nil {
		return Record{}, fmt.Errorf("%w: peer record: %w", ErrSignature, err)
	}
	message, err := recordMessage(&r)
	if err != nil {
		return Record{}, fmt.Errorf("%w: peer record: %w", ErrSignature, err)
	}
	if err := verify(key, message, signature); err != nil {
		return Record{}, fmt.Errorf("signed: peer record: %w", err)
	}
	return Record{peer.AddrInfo{ID: r.PeerID, Addrs: r.Addrs}, r.Seq}, nil
}

// errForm means that bytes are not the signed form of a PeerRecord.
var errForm = errors.New("malformed")

// read parses the signed form of a PeerRecord, without verifying it.
func read(envelope []byte) (r peer.PeerRecord, key, signature []byte, err error) {
	id, b := summary.Signer(envelope)
	if id == "" {
		return r, nil, nil, errForm
	}
	key, ok := envelope[1:len(envelope)-len(b)], true
	number := func() uint64 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 || n != protowire.SizeVarint(v) {
			ok = false
			return 0
		}
		b = b[n:]
		return v
	}
	r = peer.PeerRecord{PeerID: peer.ID(id), Seq: number()}
	for n := number(); n > 0 && ok; n-- {
		size := number()
		if !ok || size > uint64(len(b)) {
			return peer.PeerRecord{}, nil, nil, errForm
		}
		a, err := ma.NewMultiaddrBytes(b[:size])
		if err != nil || !bytes.Equal(a.Bytes(), b[:size]) {
			return peer.PeerRecord{}, nil, nil, errForm
		}
		r.Addrs, b = append(r.Addrs, a), b[size:]
	}
	if !ok {
		return peer.PeerRecord{}, nil, nil, errForm
	}
	return r, key, b, nil
}

// content returns the content of a record that was verified before; the zero PeerRecord if it is not one.
func content(envelope []byte) peer.PeerRecord {
	r, _, _, _ := read(envelope)
	return r
}

// Seq returns the Seq of a signed PeerRecord, without verifying it; 0 if it is not one.
func Seq(envelope []byte) uint64 { return content(envelope).Seq }

// OwnRecord returns the host's signed PeerRecord: the one in its address book, or one made of its addresses. If not
// all addresses fit into wire.MaxRecord bytes, it leaves out the least useful ones. before is the record that others
// may hold, or nil. If the addresses are the same, OwnRecord returns before again. Otherwise the new Seq is higher,
// even if the host's clock went back.
func OwnRecord(h host.Host, key crypto.PrivKey, before []byte) ([]byte, error) {
	old, err := OpenRecord(before)
	if err != nil {
		before, old = nil, Record{}
	}
	r := peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: h.ID(), Addrs: slices.Clone(h.Addrs())})
	slices.SortStableFunc(r.Addrs, func(a, b ma.Multiaddr) int { return cmp.Compare(useless(a), useless(b)) })
	if book, ok := peerstore.GetCertifiedAddrBook(h.Peerstore()); ok {
		if e := book.GetPeerRecord(h.ID()); e != nil {
			var known peer.PeerRecord
			if e.TypedRecord(&known) == nil && len(known.Addrs) > 0 {
				r = &known
			}
		}
	}
	if before != nil && slices.EqualFunc(r.Addrs, old.Addrs, ma.Multiaddr.Equal) {
		return before, nil
	}
	r.Seq = max(r.Seq, old.Seq+1)
	for {
		b, err := Sign(r, key)
		if err != nil || len(b) <= wire.MaxRecord || len(r.Addrs) == 0 {
			return b, err
		}
		r.Addrs = r.Addrs[:len(r.Addrs)-1]
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
