package signed

import (
	"crypto/sha256"
	"sync"

	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/summary"
)

// Cache remembers what signed headers and peer records held, so that each is verified once. It is safe for concurrent
// use; nodes of one process may share one. What does not verify is not kept.
type Cache struct {
	mu       sync.Mutex
	half     int
	opened   int
	now, old map[[sha256.Size]byte]any
}

// NewCache returns a cache of at most so many envelopes (2 or more), about 500 bytes each.
func NewCache(entries int) *Cache {
	return &Cache{half: max(1, entries/2), now: make(map[[sha256.Size]byte]any)}
}

func (c *Cache) get(k [sha256.Size]byte) (any, bool) {
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

func (c *Cache) put(k [sha256.Size]byte, v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, v)
	c.opened++
}

// add drops the older half when the newer is full.
func (c *Cache) add(k [sha256.Size]byte, v any) {
	if len(c.now) >= c.half {
		c.old, c.now = c.now, make(map[[sha256.Size]byte]any, c.half)
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
func (c *Cache) Header(envelope []byte) (summary.Header, error) {
	return cached(c, summary.MaxEnvelope, envelope, func(b []byte) (summary.Header, error) {
		return summary.OpenHeader(b, VerifyHeader)
	})
}

// Record opens a signed PeerRecord.
func (c *Cache) Record(envelope []byte) (Record, error) {
	return cached(c, wire.MaxRecord, envelope, OpenRecord)
}

// Opened is how many envelopes were verified so far.
func (c *Cache) Opened() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}
