package signed

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Cache remembers the contents of signed headers and peer records, and the good signatures of tails, so that each is
// verified once. It keeps the most recently used. It does not remember failed verifications. It is safe for concurrent
// use; nodes of one process may share one.
type Cache struct {
	envelopes  *lru.Cache[[sha256.Size]byte, opened]
	signatures *lru.Cache[[sha256.Size]byte, struct{}] // good signatures
	count      atomic.Int64                            // number of envelopes verified
}

// signaturesEach is the number of signatures remembered for each envelope; together they take some 150 bytes.
const signaturesEach = 4

// opened is an envelope and its contents.
type opened struct {
	held     any
	envelope []byte
}

// NewCache returns a cache of at most entries envelopes, about 800 bytes each. entries must be 2 or more.
func NewCache(entries int) *Cache {
	return &Cache{envelopes: latest[opened](entries), signatures: latest[struct{}](signaturesEach * entries)}
}

// latest returns a cache of the most recently used values, by hash.
func latest[V any](most int) *lru.Cache[[sha256.Size]byte, V] {
	l, err := lru.New[[sha256.Size]byte, V](max(1, most))
	if err != nil {
		panic(err) // most is not above 0
	}
	return l
}

// cached returns the result of open for an envelope: from the cache if it is there, else from a call of open.
func cached[T any](c *Cache, limit int, envelope []byte, open func([]byte) (T, error)) (T, error) {
	if len(envelope) > limit {
		return open(envelope) // open refuses it
	}
	k := sha256.Sum256(envelope)
	if v, ok := c.envelopes.Get(k); ok {
		if held, ok := v.held.(T); ok {
			return held, nil
		}
	}
	v, err := open(envelope)
	if err == nil {
		c.envelopes.Add(k, opened{v, slices.Clone(envelope)})
		c.count.Add(1)
	}
	return v, err
}

// Header returns the header in a signed envelope.
func (c *Cache) Header(envelope []byte) (summary.Header, error) {
	return cached(c, wire.MaxEnvelope, envelope, OpenHeader)
}

// Record returns the content of a signed PeerRecord.
func (c *Cache) Record(envelope []byte) (Record, error) {
	return cached(c, wire.MaxRecord, envelope, OpenRecord)
}

// Signature returns nil if a signature is known to be good, else the result of verify.
func (c *Cache) Signature(origin string, message, signature []byte, verify func(origin string, message, signature []byte) error) error {
	k := signatureKey(origin, message, signature)
	if _, good := c.signatures.Get(k); good {
		return nil
	}
	err := verify(origin, message, signature)
	if err == nil {
		c.signatures.Add(k, struct{}{})
	}
	return err
}

func signatureKey(origin string, message, signature []byte) [sha256.Size]byte {
	b := make([]byte, 0, 512) // on the stack, for most signatures
	b = append(binary.AppendUvarint(b, uint64(len(origin))), origin...)
	b = append(binary.AppendUvarint(b, uint64(len(message))), message...)
	b = append(binary.AppendUvarint(b, uint64(len(signature))), signature...)
	return sha256.Sum256(b)
}

// Keep returns a copy of an envelope that may be kept: the cache's copy if the envelope was opened before, else a new
// one. A slice of the received message would keep the whole message in memory.
func (c *Cache) Keep(envelope []byte) []byte {
	if envelope == nil {
		return nil
	}
	if v, ok := c.envelopes.Get(sha256.Sum256(envelope)); ok {
		return v.envelope
	}
	return slices.Clone(envelope)
}

// Verified returns the number of envelopes verified so far.
func (c *Cache) Verified() int { return int(c.count.Load()) }
