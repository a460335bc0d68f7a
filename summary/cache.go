package summary

import (
	"container/list"
	"slices"
	"sync"
)

// Cache shares decoded, verified prefixes, and deltas made, among the nodes of one process. It changes no result:
// Extend gives what [Prefix.Extend] gives, ApplyDelta and EncodeDelta what the functions of these names do. Safe for
// concurrent use; a nil cache shares nothing.
type Cache struct {
	mu     sync.Mutex
	limit  int
	size   int
	recent *list.List // of *Prefix, the one used last in front
	byKey  map[cacheKey]*list.Element
	deltas deltaCache
}

// cacheKey names a prefix: the chain binds all its parts, the group the header.
type cacheKey struct {
	chain Digest
	group GroupID
	parts int
}

// NewCache returns a cache of prefixes that take at most the given number of bytes of memory. The least recently used
// go first. Memory that several of them share counts for each.
func NewCache(bytes int) *Cache {
	return &Cache{
		limit: bytes, recent: list.New(), byKey: map[cacheKey]*list.Element{},
		deltas: deltaCache{limit: bytes / 16, made: map[deltaKey][]byte{}, applied: map[appliedKey]bool{}},
	}
}

// Extend is p.Extend(r), without the work if another has extended the same prefix to the same part.
func (c *Cache) Extend(p *Prefix, r Run) (*Prefix, error) {
	if c == nil {
		return p.Extend(r)
	}
	key := cacheKey{p.header.Chain, p.header.Group(), r.End()}
	if q := c.get(key); q != nil && q.extends(p, r) {
		return q, nil
	}
	q, err := p.Extend(r)
	if err != nil || q == p {
		return q, err
	}
	c.put(key, q)
	return q, nil
}

// extends reports whether q is what p.Extend(r) must give: the same header, and byte for byte the parts of r.
func (q *Prefix) extends(p *Prefix, r Run) bool {
	if r.First < 0 || r.First > p.held || r.End() <= p.held || r.Next != q.chain[len(q.parts)] || !q.header.equal(p.header) {
		return false
	}
	return slices.EqualFunc(r.Parts, q.parts[r.First:], slices.Equal)
}

// equal reports whether two headers have the same bytes.
func (h *Header) equal(o *Header) bool {
	return h == o || h.Seed == o.Seed && h.Origin == o.Origin && h.Epoch == o.Epoch && h.Lifetime == o.Lifetime &&
		h.N == o.N && h.Shape.Equal(o.Shape) && h.Chain == o.Chain
}

func (c *Cache) get(key cacheKey) *Prefix {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*Prefix)
}

func (c *Cache) put(key cacheKey, p *Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.byKey[key]; there {
		return
	}
	c.byKey[key] = c.recent.PushFront(p)
	for c.size += p.SizeBytes(); c.size > c.limit && c.recent.Len() > 0; {
		last := c.recent.Back()
		old := c.recent.Remove(last).(*Prefix)
		delete(c.byKey, cacheKey{old.header.Chain, old.header.Group(), len(old.parts)})
		c.size -= old.SizeBytes()
	}
}
