// Package cache shares work on summaries among the nodes of one process: a testnet, or a program with several nodes.
//
// It changes no result. It keeps the prefixes used last and the relative runs made last, up to a bounded number of
// bytes. Beyond that it shares only prefixes that some node still holds. A look-up is O(1), behind one lock.
package cache

import (
	"container/list"
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"weak"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Cache shares decoded, verified prefixes and encoded relative runs among the nodes of one process. It changes no
// result: its methods return what the methods of the same names in package summary return. It is safe for concurrent
// use. A nil cache shares nothing.
type Cache struct {
	mu        sync.Mutex
	limit     int
	size      int
	recent    *list.List // values of *summary.Prefix, the most recently used in front
	byKey     map[cacheKey]*list.Element
	lent      map[cacheKey]weak.Pointer[summary.Prefix] // prefixes dropped from recent; nodes may still hold them
	swept     int                                       // size of lent after the last sweep
	relatives relatives
}

// cacheKey identifies a prefix: chain binds all its parts, and group names its header.
type cacheKey struct {
	chain [sha256.Size]byte
	group wire.GroupID
	parts int
}

// New returns a cache that keeps prefixes of at most the given number of bytes, and relative runs of at most a quarter
// as many. It drops the least recently used prefixes first. Memory that several prefixes share counts for each. Dropped
// prefixes are still shared as long as a node holds them.
func New(bytes int) *Cache {
	return &Cache{
		limit: bytes, recent: list.New(), byKey: map[cacheKey]*list.Element{}, lent: map[cacheKey]weak.Pointer[summary.Prefix]{},
		relatives: relatives{limit: bytes / 4, made: map[relativeKey]summary.Relative{}},
	}
}

// NewPrefix returns summary.NewPrefix(h). It does no work if another node has made the same prefix.
func (c *Cache) NewPrefix(h summary.Header) (*summary.Prefix, error) {
	if c == nil {
		return summary.NewPrefix(h)
	}
	key := cacheKey{h.Chain, wire.GroupOf(h), 0}
	if p := c.get(key); p != nil && heads(h, p) {
		return p, nil
	}
	p, err := summary.NewPrefix(h)
	if err != nil {
		return nil, err
	}
	c.put(key, p)
	return p, nil
}

// Extend returns p.Extend(r). It does no work if another node has extended the same prefix to the same part.
func (c *Cache) Extend(p *summary.Prefix, r summary.Run) (*summary.Prefix, error) {
	if c == nil {
		return p.Extend(r)
	}
	key := cacheKey{p.Header().Chain, wire.GroupOf(p.Header()), r.First + len(r.Parts)}
	if q := c.get(key); q != nil && extends(q, p, r) {
		return q, nil
	}
	q, err := p.Extend(r)
	if err != nil || q == p {
		return q, err
	}
	c.put(key, q)
	return q, nil
}

// extends reports whether q is the result of p.Extend(r): q has the same header, and byte for byte the parts of r.
func extends(q, p *summary.Prefix, r summary.Run) bool {
	if r.First < 0 || r.First > p.Parts() || r.First+len(r.Parts) <= p.Parts() || !heads(p.Header(), q) {
		return false
	}
	have, err := q.Run(r.First, q.Parts())
	return err == nil && r.Next == have.Next && slices.EqualFunc(r.Parts, have.Parts, slices.Equal)
}

// heads reports whether header h has the same bytes as p's header.
func heads(h summary.Header, p *summary.Prefix) bool {
	o := p.Header()
	_, err := p.Under(h)
	return err == nil && h.Epoch == o.Epoch && h.Lifetime == o.Lifetime
}

// get returns a prefix that the cache keeps or a node still holds; nil if there is none.
func (c *Cache) get(key cacheKey) *summary.Prefix {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.recent.MoveToFront(e)
		return e.Value.(*summary.Prefix)
	}
	return c.lent[key].Value()
}

// put keeps a prefix. It drops the least recently used prefixes beyond the limit.
func (c *Cache) put(key cacheKey, p *summary.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] != nil || c.lent[key].Value() != nil {
		return
	}
	c.byKey[key] = c.recent.PushFront(p)
	for c.size += p.SizeBytes(); c.size > c.limit && c.recent.Len() > 0; {
		last := c.recent.Back()
		old := c.recent.Remove(last).(*summary.Prefix)
		key := cacheKey{old.Header().Chain, wire.GroupOf(old.Header()), old.Parts()}
		delete(c.byKey, key)
		c.lend(key, old)
		c.size -= old.SizeBytes()
	}
}

// lend keeps a weak pointer to a dropped prefix. When lent is twice as large as after the last sweep, lend removes
// the prefixes that no node holds: O(1) for each on average.
func (c *Cache) lend(key cacheKey, p *summary.Prefix) {
	c.lent[key] = weak.Make(p)
	if len(c.lent) > 2*c.swept+64 {
		maps.DeleteFunc(c.lent, func(_ cacheKey, p weak.Pointer[summary.Prefix]) bool { return p.Value() == nil })
		c.swept = len(c.lent)
	}
}
