package signed

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/summary"
)

// Cache remembers what signed headers and peer records held, and which signatures of tails were good, so that each is
// verified once. It is safe for concurrent use; nodes of one process may share one. What does not verify is not kept.
type Cache struct {
	mu          sync.Mutex
	half        int
	count       int // of envelopes opened
	now, old    map[[sha256.Size]byte]opened
	good, older map[[sha256.Size]byte]bool // signatures
}

// opened is an envelope and what it held.
type opened struct {
	held     any
	envelope []byte
}

// NewCache returns a cache of at most entries envelopes (2 or more), about 800 bytes each.
func NewCache(entries int) *Cache {
	return &Cache{half: max(1, entries/2), now: make(map[[sha256.Size]byte]opened), good: make(map[[sha256.Size]byte]bool)}
}

func (c *Cache) get(k [sha256.Size]byte) (opened, bool) {
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

func (c *Cache) put(k [sha256.Size]byte, v opened) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, v)
	c.count++
}

// add drops the older half when the newer is full.
func (c *Cache) add(k [sha256.Size]byte, v opened) {
	if len(c.now) >= c.half {
		c.old, c.now = c.now, make(map[[sha256.Size]byte]opened, c.half)
	}
	c.now[k] = v
}

// cached is open's answer for an envelope, from the cache if it is there.
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

// Signature returns verify's answer for a signature, or nil if it was good before.
func (c *Cache) Signature(origin string, message, signature []byte, verify func(origin string, message, signature []byte) error) error {
	k := signatureKey(origin, message, signature)
	if c.known(k) {
		return nil
	}
	err := verify(origin, message, signature)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.good) >= signaturesEach*c.half {
			c.older, c.good = c.good, make(map[[sha256.Size]byte]bool)
		}
		c.good[k] = true
	}
	return err
}

// signaturesEach is how many signatures are remembered for each envelope: they take some 40 bytes.
const signaturesEach = 4

func (c *Cache) known(k [sha256.Size]byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.good[k] || c.older[k]
}

func signatureKey(origin string, message, signature []byte) (k [sha256.Size]byte) {
	h := sha256.New()
	for _, b := range [][]byte{[]byte(origin), message, signature} {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(b))))
		_, _ = h.Write(b)
	}
	h.Sum(k[:0])
	return k
}

// Keep returns a copy of an envelope to be kept: the cache's if the envelope was opened before, else a new one. A slice
// of the message that the envelope came in would keep all of that.
func (c *Cache) Keep(envelope []byte) []byte {
	if envelope == nil {
		return nil
	}
	if v, ok := c.get(sha256.Sum256(envelope)); ok {
		return v.envelope
	}
	return slices.Clone(envelope)
}

// Opened is how many envelopes were verified so far.
func (c *Cache) Opened() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}
