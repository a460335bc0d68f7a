package testnet

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/workload"
)

// errForeign says that a peer of the testnet was given a key that the data does not have.
var errForeign = errors.New("testnet: no key of the data")

// keyring is the data with the fingerprints of its keys, which are hashed once for all peers. It is read-only.
type keyring struct {
	*workload.Data
	fingerprints []summary.Fingerprint // by number of the key
	open         bool                  // collections take in keys that the data does not have
}

func newKeyring(d *workload.Data, h summary.Hasher) *keyring {
	r := &keyring{Data: d, fingerprints: make([]summary.Fingerprint, d.Keys())}
	for k := range r.fingerprints {
		r.fingerprints[k] = h.Fingerprint(d.Key(uint32(k)))
	}
	return r
}

// collection is one peer's store of keys, a keystore.Keys: 4 bytes a key on top of what all peers share.
type collection struct {
	ring *keyring
	mu   sync.RWMutex
	held []uint32 // numbers of keys, ascending; shared with the data until it changes
	own  bool     // held is no longer the data's

	strange map[string]summary.Fingerprint // keys that the data does not have
}

func newCollection(r *keyring, peer int) *collection {
	return &collection{ring: r, held: r.Collection(peer)}
}

// find returns the number of a key and its place in held.
func (c *collection) find(key []byte) (number uint32, at int, held, known bool) {
	if number, known = c.ring.Lookup(key); known {
		at, held = slices.BinarySearch(c.held, number)
	}
	return number, at, held, known
}

// Add takes in a key; only one of the data unless the keyring is open.
func (c *collection) Add(key []byte, f summary.Fingerprint) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	number, at, held, known := c.find(key)
	if !known {
		return c.addStrange(key, f)
	}
	if held {
		return false, nil
	}
	c.detach()
	c.held = slices.Insert(c.held, at, number)
	return true, nil
}

func (c *collection) addStrange(key []byte, f summary.Fingerprint) (bool, error) {
	if !c.ring.open {
		return false, errForeign
	}
	if c.strange == nil {
		c.strange = make(map[string]summary.Fingerprint)
	}
	n := len(c.strange)
	c.strange[string(key)] = f
	return len(c.strange) > n, nil
}

// Remove drops a key.
func (c *collection) Remove(key []byte) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, at, held, known := c.find(key)
	if !known {
		n := len(c.strange)
		delete(c.strange, string(key))
		return len(c.strange) < n, nil
	}
	if !held {
		return false, nil
	}
	c.detach()
	c.held = slices.Delete(c.held, at, at+1)
	return true, nil
}

// detach makes held the peer's own.
func (c *collection) detach() {
	if !c.own {
		c.held, c.own = slices.Clone(c.held), true
	}
}

// Has says whether the key is held; the error is always nil.
func (c *collection) Has(key []byte) (bool, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, _, held, known := c.find(key)
	if !known {
		_, held = c.strange[string(key)]
	}
	return held, nil
}

// any draws one of the data's keys that are held; false when there is none.
func (c *collection) any(rng *rand.Rand) (number uint32, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.held) == 0 {
		return 0, false
	}
	return c.held[rng.IntN(len(c.held))], true
}

// has is Has by number.
func (c *collection) has(number uint32) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, held := slices.BinarySearch(c.held, number)
	return held
}

// numbers are those of the data's keys that are held, ascending.
func (c *collection) numbers() []uint32 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.held)
}

// Len is count; the error is always nil.
func (c *collection) Len() (int, error) { return c.count(), nil }

// count is the number of keys held.
func (c *collection) count() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.held) + len(c.strange)
}

// Keys are those held when the iteration begins; the error is always nil.
func (c *collection) Keys(context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, k := range c.numbers() {
			if !yield(c.ring.Key(k), nil) {
				return
			}
		}
		c.mu.RLock()
		strange := slices.Sorted(maps.Keys(c.strange))
		c.mu.RUnlock()
		for _, k := range strange {
			if !yield([]byte(k), nil) {
				return
			}
		}
	}
}

// Fingerprints are those of the keys held when the iteration begins.
func (c *collection) Fingerprints() iter.Seq[summary.Fingerprint] {
	return func(yield func(summary.Fingerprint) bool) {
		c.mu.RLock()
		held := c.held
		if c.own {
			held = slices.Clone(held)
		}
		strange := slices.Sorted(maps.Values(c.strange))
		c.mu.RUnlock()
		for _, k := range held {
			if !yield(c.ring.fingerprints[k]) {
				return
			}
		}
		for _, f := range strange {
			if !yield(f) {
				return
			}
		}
	}
}
