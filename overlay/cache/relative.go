package cache

import (
	"bytes"
	"crypto/sha256"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// relatives keeps the relative runs that were made last. It drops the oldest first.
type relatives struct {
	limit, size int
	made        map[relativeKey]summary.Relative
	order       []relativeKey
}

// relativeKey names a relative run: the chains bind the parts of both prefixes, the groups their headers.
type relativeKey struct {
	chain, baseChain      [sha256.Size]byte
	group, base           wire.GroupID
	first, end, baseParts int
}

// RunRelative returns [summary.Prefix.RunRelative] of its arguments. It does no work if the cache still has the result.
// The caller must not change the returned code.
func (c *Cache) RunRelative(p *summary.Prefix, first, end int, base *summary.Prefix, baseParts int) (summary.Relative, error) {
	if c == nil {
		return p.RunRelative(first, end, base, baseParts)
	}
	h, b := p.Header(), base.Header()
	key := relativeKey{h.Chain, b.Chain, wire.GroupOf(h), wire.GroupOf(b), first, end, baseParts}
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
	for d.size += len(r.Code); d.size > d.limit && len(d.order) > 0; d.order = d.order[1:] {
		d.size -= len(d.made[d.order[0]].Code)
		delete(d.made, d.order[0])
	}
}

// ExtendRelative returns [summary.Prefix.ExtendRelative] of its arguments. If the cache has the resulting prefix, it
// decodes nothing. It encodes that prefix's parts and compares the codes: given a base, parts have only one code.
func (c *Cache) ExtendRelative(p, base *summary.Prefix, r summary.Relative) (*summary.Prefix, error) {
	end := r.First + r.Parts
	if c == nil || end <= p.Parts() || r.First > p.Parts() || r.BaseParts > base.Parts() {
		return p.ExtendRelative(base, r)
	}
	h := p.Header()
	held := cacheKey{h.Chain, wire.GroupOf(h), end}
	q := c.get(held)
	if q == nil || !heads(h, q) {
		q, err := p.ExtendRelative(base, r)
		if err == nil {
			c.put(held, q)
		}
		return q, err
	}
	if made, err := c.RunRelative(q, r.First, end, base, r.BaseParts); err == nil && bytes.Equal(made.Bytes, r.Bytes) {
		return q, nil
	}
	return p.ExtendRelative(base, r)
}
