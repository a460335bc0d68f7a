package cache

import (
	"crypto/sha256"

	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/summary"
)

// deltaCache keeps the deltas made of late, and remembers which were applied with success. The oldest go first.
type deltaCache struct {
	limit, size int
	made        map[deltaKey][]byte
	order       []deltaKey
	applied     map[appliedKey]bool
	appliedOf   []appliedKey
}

// deltaKey names a delta: the chains bind what both prefixes say, the groups their headers.
type deltaKey struct {
	oldChain, newChain [sha256.Size]byte
	oldGroup, newGroup group.ID
	parts              int
}

// appliedKey names what was applied to what, and to which end.
type appliedKey struct {
	deltaKey
	delta [sha256.Size]byte
}

const (
	deltaEntry = 256     // bytes that a delta takes besides its own
	maxApplied = 1 << 14 // successes remembered
)

func newDeltaKey(old *summary.Prefix, h summary.Header, parts int) deltaKey {
	return deltaKey{old.Header().Chain, h.Chain, group.Of(old.Header()), group.Of(h), parts}
}

// EncodeDelta is [summary.EncodeDelta] of the first parts of both prefixes. It does no work if it has done the same of
// late. The result is not to be changed.
func (c *Cache) EncodeDelta(old, next *summary.Prefix, parts int) ([]byte, error) {
	parts = min(parts, old.Parts(), next.Parts())
	if c == nil {
		return summary.EncodeDelta(old, next, parts)
	}
	key := newDeltaKey(old, next.Header(), parts)
	c.mu.Lock()
	delta, there := c.deltas.made[key]
	c.mu.Unlock()
	if there {
		return delta, nil
	}
	delta, err := summary.EncodeDelta(old, next, parts)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deltas.put(key, delta)
	return delta, nil
}

func (d *deltaCache) put(key deltaKey, delta []byte) {
	if _, there := d.made[key]; there {
		return
	}
	d.made[key] = delta
	d.order = append(d.order, key)
	for d.size += len(delta) + deltaEntry; d.size > d.limit && len(d.order) > 0; d.order = d.order[1:] {
		d.size -= len(d.made[d.order[0]]) + deltaEntry
		delete(d.made, d.order[0])
	}
}

// ApplyDelta is [summary.ApplyDelta]; without the work if another has applied the same delta to the same prefix of
// late.
func (c *Cache) ApplyDelta(old *summary.Prefix, h summary.Header, delta []byte) (*summary.Prefix, error) {
	if c == nil {
		return summary.ApplyDelta(old, h, delta)
	}
	_, parts, err := summary.DeltaBase(delta)
	if err != nil {
		return nil, err
	}
	key := appliedKey{newDeltaKey(old, h, parts), sha256.Sum256(delta)}
	q := c.get(cacheKey{h.Chain, group.Of(h), parts})
	c.mu.Lock()
	known := c.deltas.applied[key]
	c.mu.Unlock()
	if known && q != nil && heads(h, q) && parts <= old.Parts() {
		return q, nil
	}
	p, err := summary.ApplyDelta(old, h, delta)
	if err != nil {
		return nil, err
	}
	if q != nil && heads(h, q) {
		p = q // the chain is the same, so the parts are
	} else {
		c.put(cacheKey{h.Chain, group.Of(h), parts}, p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deltas.succeeded(key)
	return p, nil
}

func (d *deltaCache) succeeded(key appliedKey) {
	if d.applied[key] {
		return
	}
	d.applied[key] = true
	if d.appliedOf = append(d.appliedOf, key); len(d.appliedOf) > maxApplied {
		delete(d.applied, d.appliedOf[0])
		d.appliedOf = d.appliedOf[1:]
	}
}
