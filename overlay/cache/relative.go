package cache

import (
	"crypto/sha256"

	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/summary"
)

// relatives keeps the latest relative runs made, and remembers which were decoded with success. The oldest go first.
type relatives struct {
	limit, size int
	made        map[relativeKey]summary.Relative
	order       []relativeKey
	decoded     map[decodedKey]bool
	decodedOf   []decodedKey
}

// relativeKey names a relative run: the chains bind the parts of both prefixes, the groups their headers.
type relativeKey struct {
	chain, baseChain      [sha256.Size]byte
	group, base           group.ID
	first, end, baseParts int
}

// decodedKey names a relative run that was decoded.
type decodedKey struct {
	relativeKey
	run [sha256.Size]byte
}

const (
	relativeEntry = 256     // bytes that a relative run takes besides its own
	maxDecoded    = 1 << 14 // successes remembered
)

func newRelativeKey(p *summary.Prefix, first, end int, base *summary.Prefix, baseParts int) relativeKey {
	h, b := p.Header(), base.Header()
	return relativeKey{h.Chain, b.Chain, group.Of(h), group.Of(b), first, end, baseParts}
}

// RunRelative is [summary.Prefix.RunRelative], without the work if the same was done lately. The code must not be
// changed.
func (c *Cache) RunRelative(p *summary.Prefix, first, end int, base *summary.Prefix, baseParts int) (summary.Relative, error) {
	if c == nil {
		return p.RunRelative(first, end, base, baseParts)
	}
	key := newRelativeKey(p, first, end, base, baseParts)
	c.mu.Lock()
	r, there := c.relatives.made[key]
	c.mu.Unlock()
	if there {
		return r, nil
	}
	r, err := p.RunRelative(first, end, base, baseParts)
	if err != nil {
		return summary.Relative{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.relatives.put(key, r)
	return r, nil
}

func (d *relatives) put(key relativeKey, r summary.Relative) {
	if _, there := d.made[key]; there {
		return
	}
	d.made[key] = r
	d.order = append(d.order, key)
	for d.size += len(r.Code) + relativeEntry; d.size > d.limit && len(d.order) > 0; d.order = d.order[1:] {
		d.size -= len(d.made[d.order[0]].Code) + relativeEntry
		delete(d.made, d.order[0])
	}
}

// ExtendRelative is [summary.Prefix.ExtendRelative], without the work if another node has lately decoded the same run,
// given the same base.
func (c *Cache) ExtendRelative(p, base *summary.Prefix, r summary.Relative) (*summary.Prefix, error) {
	if c == nil || r.First+r.Parts <= p.Parts() || r.First > p.Parts() || r.BaseParts > base.Parts() {
		return p.ExtendRelative(base, r)
	}
	h := p.Header()
	key := decodedKey{newRelativeKey(p, r.First, r.First+r.Parts, base, r.BaseParts), sha256.Sum256(r.Bytes)}
	held := cacheKey{h.Chain, group.Of(h), r.First + r.Parts}
	q := c.get(held)
	c.mu.Lock()
	known := c.relatives.decoded[key]
	c.mu.Unlock()
	if known && q != nil && heads(h, q) {
		return q, nil
	}
	made, err := p.ExtendRelative(base, r)
	if err != nil {
		return nil, err
	}
	if q != nil && heads(h, q) {
		made = q // the chain is the same, so the parts are
	} else {
		c.put(held, made)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.relatives.succeeded(key)
	return made, nil
}

func (d *relatives) succeeded(key decodedKey) {
	if d.decoded[key] {
		return
	}
	d.decoded[key] = true
	if d.decodedOf = append(d.decodedOf, key); len(d.decodedOf) > maxDecoded {
		delete(d.decoded, d.decodedOf[0])
		d.decodedOf = d.decodedOf[1:]
	}
}
