package signed

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Cache remembers the contents of signed headers and peer records, and which signatures of tails were good, so that
// each is verified once. Failed verifications are not kept. It is safe for concurrent use; nodes of one process may
// share one.
type Cache struct {
	mu        sync.Mutex
	count     int // of envelopes opened
	envelopes *simplelru.LRU[[sha256.Size]byte, opened]

	signatures []signatures
}

// signatures holds the good signatures whose hashes have the same remainder. Every tail that comes to a node of the
// process is looked up; one lock for all would make them wait for each other.
type signatures struct {
	mu   sync.Mutex
	good *simplelru.LRU[[sha256.Size]byte, struct{}]
}

const (
	// signaturesEach is the number of signatures remembered for each envelope: they take some 150 bytes.
	signaturesEach = 4
	// A part holds leastPart signatures or more, if there are several parts; there are mostParts at most.
	leastPart = 64
	mostParts = 16
)

// opened is an envelope and its contents.
type opened struct {
	held     any
	envelope []byte
}

// NewCache returns a cache of at most entries envelopes (2 or more), about 800 bytes each.
func NewCache(entries int) *Cache {
	c := &Cache{
		envelopes:  lru[opened](entries),
		signatures: make([]signatures, min(max(1, signaturesEach*entries/leastPart), mostParts)),
	}
	for i := range c.signatures {
		c.signatures[i].good = lru[struct{}](max(1, signaturesEach*entries/len(c.signatures)))
	}
	return c
}

// lru returns a cache of values by hash, which keeps the most recently used ones.
func lru[V any](most int) *simplelru.LRU[[sha256.Size]byte, V] {
	l, err := simplelru.NewLRU[[sha256.Size]byte, V](max(1, most), nil)
	if err != nil {
		panic(err) // most is not above 0
	}
	return l
}

func (c *Cache) get(k [sha256.Size]byte) (opened, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.envelopes.Get(k)
}

func (c *Cache) put(k [sha256.Size]byte, v opened) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.envelopes.Add(k, v)
	c.count++
}

// cached returns the result of open for an envelope, from the cache if it is there.
func cached[T any](c *Cache, limit int, envelope []byte, open func([]byte) (T, error)) (T, error) {
	if len(envelope) > limit {
		return open(envelope) // refuses it
	}
	k := sha256.Sum256(envelope)
	if v, ok := c.get(k); ok {
		if held, ok := v.held.(T); ok {
			return held, nil
		}
	}
	v, err := open(envelope)
	if err == nil {
		c.put(k, opened{v, slices.Clone(envelope)})
	}
	return v, err
}

// Header opens a signed header.
func (c *Cache) Header(envelope []byte) (summary.Header, error) {
	return cached(c, wire.MaxEnvelope, envelope, OpenHeader)
}

// Record opens a signed PeerRecord.
func (c *Cache) Record(envelope []byte) (Record, error) {
	return cached(c, wire.MaxRecord, envelope, OpenRecord)
}

// Signature returns the result of verify for a signature, or nil if the signature was good before.
func (c *Cache) Signature(origin string, message, signature []byte, verify func(origin string, message, signature []byte) error) error {
	k := signatureKey(origin, message, signature)
	part := &c.signatures[int(k[0])%len(c.signatures)]
	if part.has(k) {
		return nil
	}
	err := verify(origin, message, signature)
	if err == nil {
		part.add(k)
	}
	return err
}

func (s *signatures) has(k [sha256.Size]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, good := s.good.Get(k)
	return good
}

func (s *signatures) add(k [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.good.Add(k, struct{}{})
}

func signatureKey(origin string, message, signature []byte) [sha256.Size]byte {
	b := make([]byte, 0, 512) // on the stack, for most
	b = append(binary.AppendUvarint(b, uint64(len(origin))), origin...)
	b = append(binary.AppendUvarint(b, uint64(len(message))), message...)
	b = append(binary.AppendUvarint(b, uint64(len(signature))), signature...)
	return sha256.Sum256(b)
}

// Keep returns a copy of an envelope to keep: the cache's if the envelope was opened before, else a new one. A slice of
// the message that brought it would keep the whole message alive.
func (c *Cache) Keep(envelope []byte) []byte {
	if envelope == nil {
		return nil
	}
	if v, ok := c.get(sha256.Sum256(envelope)); ok {
		return v.envelope
	}
	return slices.Clone(envelope)
}

// Opened returns how many envelopes were verified so far.
func (c *Cache) Opened() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}
