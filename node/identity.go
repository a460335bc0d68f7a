package node

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/record"

	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/summary"
)

var errSignature = errors.New("node: not what its signer signed")

// headerRecord is the header of a summary as what a libp2p envelope signs.
type headerRecord struct{ payload []byte }

func (*headerRecord) Domain() string { return "venn-summary-header" }

var headerCodec = []byte("/venn/summary-header")

func (*headerRecord) Codec() []byte                    { return headerCodec }
func (r *headerRecord) MarshalRecord() ([]byte, error) { return r.payload, nil }
func (r *headerRecord) UnmarshalRecord(b []byte) error { r.payload = b; return nil }

// signer signs headers with a peer's key.
func signer(key crypto.PrivKey) summary.Sign {
	return func(payload []byte) ([]byte, error) {
		e, err := record.Seal(&headerRecord{payload}, key)
		if err != nil {
			return nil, fmt.Errorf("node: sign header: %w", err)
		}
		return e.Marshal()
	}
}

// verifyHeader is the summary.Verify of this package.
func verifyHeader(envelope []byte) (payload []byte, signer string, err error) {
	var r headerRecord
	e, err := record.ConsumeTypedEnvelope(envelope, &r)
	if err != nil {
		return nil, "", fmt.Errorf("%w: header: %w", errSignature, err)
	}
	if !bytes.Equal(e.PayloadType, headerCodec) {
		return nil, "", fmt.Errorf("%w: header of type %q", errSignature, e.PayloadType)
	}
	id, err := peer.IDFromPublicKey(e.PublicKey)
	if err != nil {
		return nil, "", fmt.Errorf("%w: header: %w", errSignature, err)
	}
	return r.payload, string(id), nil
}

// openRecord returns the peer and addresses that a signed PeerRecord certifies.
func openRecord(envelope []byte) (peer.AddrInfo, error) {
	if len(envelope) > wire.MaxRecord {
		return peer.AddrInfo{}, fmt.Errorf("%w: peer record of %d bytes, at most %d", errSignature, len(envelope), wire.MaxRecord)
	}
	var r peer.PeerRecord
	e, err := record.ConsumeTypedEnvelope(envelope, &r)
	if err != nil {
		return peer.AddrInfo{}, fmt.Errorf("%w: peer record: %w", errSignature, err)
	}
	if !bytes.Equal(e.PayloadType, peer.PeerRecordEnvelopePayloadType) || !r.PeerID.MatchesPublicKey(e.PublicKey) {
		return peer.AddrInfo{}, fmt.Errorf("%w: peer record of %s", errSignature, r.PeerID)
	}
	return peer.AddrInfo{ID: r.PeerID, Addrs: r.Addrs}, nil
}

// ownRecord is the host's signed PeerRecord: from its address book, or made of its addresses.
func ownRecord(h host.Host, key crypto.PrivKey) ([]byte, error) {
	if book, ok := peerstore.GetCertifiedAddrBook(h.Peerstore()); ok {
		if e := book.GetPeerRecord(h.ID()); e != nil {
			if b, err := e.Marshal(); err == nil {
				if info, err := openRecord(b); err == nil && len(info.Addrs) > 0 {
					return b, nil
				}
			}
		}
	}
	e, err := record.Seal(peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}), key)
	if err != nil {
		return nil, fmt.Errorf("node: sign own peer record: %w", err)
	}
	b, err := e.Marshal()
	if err == nil && len(b) > wire.MaxRecord {
		err = fmt.Errorf("node: own peer record of %d bytes, at most %d: too many addresses", len(b), wire.MaxRecord)
	}
	return b, err
}

// HeaderCache remembers what signed headers and peer records held, so that each is verified once. It is safe for concurrent
// use; nodes of one process may share one. What does not verify is not kept.
type HeaderCache struct {
	mu       sync.Mutex
	half     int
	now, old map[[sha256.Size]byte]any
}

// NewHeaderCache returns a cache of at most so many envelopes (2 or more), about 500 bytes each.
func NewHeaderCache(entries int) *HeaderCache {
	return &HeaderCache{half: max(1, entries/2), now: make(map[[sha256.Size]byte]any)}
}

func (c *HeaderCache) get(k [sha256.Size]byte) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.now[k]
	if !ok {
		if v, ok = c.old[k]; ok {
			c.add(k, v)
		}
	}
	return v, ok
}

func (c *HeaderCache) put(k [sha256.Size]byte, v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, v)
}

// add drops the older half when the newer is full.
func (c *HeaderCache) add(k [sha256.Size]byte, v any) {
	if len(c.now) >= c.half {
		c.old, c.now = c.now, make(map[[sha256.Size]byte]any, c.half)
	}
	c.now[k] = v
}

// cached is open's answer for an envelope, from the cache if it is there.
func cached[T any](c *HeaderCache, limit int, envelope []byte, open func([]byte) (T, error)) (T, error) {
	if len(envelope) > limit {
		return open(envelope) // refuses it
	}
	k := sha256.Sum256(envelope)
	if v, ok := c.get(k); ok {
		if v, ok := v.(T); ok {
			return v, nil
		}
	}
	v, err := open(envelope)
	if err == nil {
		c.put(k, v)
	}
	return v, err
}

// Header opens a signed header.
func (c *HeaderCache) Header(envelope []byte) (summary.Header, error) {
	return cached(c, summary.MaxEnvelope, envelope, func(b []byte) (summary.Header, error) {
		return summary.OpenHeader(b, verifyHeader)
	})
}

// Record opens a signed PeerRecord.
func (c *HeaderCache) Record(envelope []byte) (peer.AddrInfo, error) {
	return cached(c, wire.MaxRecord, envelope, openRecord)
}

// recordPeer is the peer of a signed PeerRecord, for the core.
func (c *HeaderCache) recordPeer(envelope []byte) (overlay.PeerID, error) {
	info, err := c.Record(envelope)
	return overlay.PeerID(info.ID), err
}
