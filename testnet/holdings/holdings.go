// Package holdings keeps the holders of all keys, at the start and as they change, and draws the keys that peers ask
// for.
//
// The simulator, scenarios and the judge all use it: there is one truth. No node reads it. It takes four bytes for
// each key, and eight for each holding.
package holdings

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrHoldings is matched by every error about collections.
var ErrHoldings = errors.New("holdings: bad collections")

// Table has the keys of every peer, and the holders of every key. Peers and keys are numbered from 0. It is read-only
// and safe for concurrent use.
type Table[P ~int32] struct {
	collections [][]uint32 // key numbers, ascending
	holders     []P        // holders of key 0, then of key 1, …, each ascending
	starts      []uint32   // index in holders of each key's first holder; the last element is their end
}

// New takes the numbers of the keys that each peer holds: ascending, each below the number keys. It keeps the slices.
func New[P ~int32](keys int, collections [][]uint32) (*Table[P], error) {
	h := &Table[P]{collections: collections, starts: make([]uint32, keys+1)}
	total := 0
	for p, c := range collections {
		for i, k := range c {
			if int(k) >= keys || i > 0 && k <= c[i-1] {
				return nil, fmt.Errorf("%w: peer %d: key %d is out of order or none of %d", ErrHoldings, p, k, keys)
			}
			h.starts[k+1]++
		}
		if total += len(c); total > math.MaxInt32 {
			return nil, fmt.Errorf("%w: more than %d holdings", ErrHoldings, math.MaxInt32)
		}
	}
	for k := range keys {
		h.starts[k+1] += h.starts[k]
	}
	h.holders = make([]P, total)
	next := slices.Clone(h.starts[:keys])
	for p, c := range collections {
		for _, k := range c {
			h.holders[next[k]] = P(p)
			next[k]++
		}
	}
	return h, nil
}

// WithKeys returns a copy of the table that has the given number of keys. Nobody holds the added ones.
func (h *Table[P]) WithKeys(keys int) *Table[P] {
	out := *h
	out.starts = slices.Clone(h.starts)
	for len(out.starts) <= keys {
		out.starts = append(out.starts, uint32(len(h.holders)))
	}
	return &out
}

// Peers returns the number of peers.
func (h *Table[P]) Peers() int { return len(h.collections) }

// Keys returns the number of keys.
func (h *Table[P]) Keys() int { return len(h.starts) - 1 }

// Holdings returns the number of pairs of a peer and a key that it holds.
func (h *Table[P]) Holdings() int { return len(h.holders) }

// Collection returns the numbers of the keys that a peer holds, ascending. The slice must not be changed.
func (h *Table[P]) Collection(p P) []uint32 { return h.collections[p] }

// Holders returns the peers that hold a key, ascending. The slice must not be changed.
func (h *Table[P]) Holders(key uint32) []P { return h.holders[h.starts[key]:h.starts[key+1]] }

// Holds reports whether a peer holds a key; nobody holds an unknown key. It takes time logarithmic in the number of
// the key's holders. It searches these, not the peer's keys: when all peers are asked for one key, its holders are
// in the processor's cache, and collections are not.
func (h *Table[P]) Holds(p P, key uint32) bool {
	if int(key) >= h.Keys() {
		return false
	}
	_, held := slices.BinarySearch(h.Holders(key), p)
	return held
}

// Others returns the number of peers, p excluded, that hold a key.
func (h *Table[P]) Others(p P, key uint32) int {
	n := len(h.Holders(key))
	if h.Holds(p, key) {
		n--
	}
	return n
}

// Common returns the number of keys that two peers both hold. It takes time linear in the sizes of their collections.
func (h *Table[P]) Common(a, b P) int {
	n, left, right := 0, h.collections[a], h.collections[b]
	for len(left) > 0 && len(right) > 0 {
		switch x, y := left[0], right[0]; {
		case x < y:
			left = left[1:]
		case x > y:
			right = right[1:]
		default:
			n, left, right = n+1, left[1:], right[1:]
		}
	}
	return n
}
