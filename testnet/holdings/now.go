package holdings

import (
	"cmp"
	"slices"
)

// Now has the holders of all keys while collections change, beginning with those of a Table. It is not safe for
// concurrent use while it changes.
type Now[P ~int32] struct {
	start       *Table[P]
	collections map[P][]uint32 // collections that have changed, ascending
	holders     map[uint32][]P // holders of keys that were added or removed, ascending
}

// NewNow begins with the holders of a Table.
func NewNow[P ~int32](h *Table[P]) *Now[P] { return &Now[P]{start: h} }

// Peers returns the number of peers.
func (n *Now[P]) Peers() int { return n.start.Peers() }

// Collection returns the numbers of the keys that a peer holds now, ascending. The slice must not be changed.
func (n *Now[P]) Collection(p P) []uint32 {
	if own, changed := n.collections[p]; changed {
		return own
	}
	return n.start.Collection(p)
}

// Holds reports whether a peer holds a key now.
func (n *Now[P]) Holds(p P, key uint32) bool {
	if own, changed := n.collections[p]; changed {
		_, held := slices.BinarySearch(own, key)
		return held
	}
	return n.start.Holds(p, key)
}

// Holders returns the peers that hold a key now, ascending. The slice must not be changed.
func (n *Now[P]) Holders(key uint32) []P {
	if now, changed := n.holders[key]; changed {
		return now
	}
	return n.start.Holders(key)
}

// Change adds a key to a peer's collection if held is true, else removes it. It returns false if nothing changes.
func (n *Now[P]) Change(p P, key uint32, held bool) bool {
	if n.Holds(p, key) == held {
		return false
	}
	if n.collections == nil {
		n.collections, n.holders = map[P][]uint32{}, map[uint32][]P{}
	}
	n.collections[p] = with(n.Collection(p), key, held)
	n.holders[key] = with(n.Holders(key), p, held)
	return true
}

// with returns a copy of a sorted list, with x added if in is true, else with x removed.
func with[T cmp.Ordered](list []T, x T, in bool) []T {
	at, _ := slices.BinarySearch(list, x)
	out := append(make([]T, 0, len(list)+1), list[:at]...)
	if in {
		return append(append(out, x), list[at:]...)
	}
	return append(out, list[at+1:]...)
}
