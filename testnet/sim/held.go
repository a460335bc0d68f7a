package sim

import (
	"cmp"
	"slices"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Held is who holds what while collections change: at first what Data says. It is not safe for concurrent use while it changes.
type Held struct {
	data        *Data
	collections map[strategy.ID][]uint32 // that have changed, ascending
	holders     map[uint32][]strategy.ID // of keys that have been changed, ascending
}

// NewHeld begins with what Data says.
func NewHeld(d *Data) *Held { return &Held{data: d} }

// Collection lists the numbers of the keys that a peer holds now, ascending. Not to be changed.
func (h *Held) Collection(p strategy.ID) []uint32 {
	if own, changed := h.collections[p]; changed {
		return own
	}
	return h.data.Collection(p)
}

// Holds says whether a peer holds a key now.
func (h *Held) Holds(p strategy.ID, key uint32) bool {
	if own, changed := h.collections[p]; changed {
		_, there := slices.BinarySearch(own, key)
		return there
	}
	return h.data.Holds(p, key)
}

// Holders are the peers that hold a key now, ascending. Not to be changed.
func (h *Held) Holders(key uint32) []strategy.ID {
	if now, changed := h.holders[key]; changed {
		return now
	}
	return h.data.Holders(key)
}

// Fingerprints are those of a peer's collection now, in a new slice.
func (h *Held) Fingerprints(p strategy.ID) []summary.Fingerprint {
	own, changed := h.collections[p]
	if !changed {
		return h.data.Fingerprints(p)
	}
	out := make([]summary.Fingerprint, len(own))
	for i, k := range own {
		out[i] = h.data.fingerprints[k]
	}
	return out
}

// Change takes in a change; false: there was nothing to change.
func (h *Held) Change(c Change) bool {
	if h.Holds(c.Peer, c.Key) == c.Held {
		return false
	}
	if h.collections == nil {
		h.collections, h.holders = map[strategy.ID][]uint32{}, map[uint32][]strategy.ID{}
	}
	h.collections[c.Peer] = with(h.Collection(c.Peer), c.Key, c.Held)
	h.holders[c.Key] = with(h.Holders(c.Key), c.Peer, c.Held)
	return true
}

// with is a sorted list with an element or without it. The list stays as it is.
func with[T cmp.Ordered](list []T, x T, in bool) []T {
	at, _ := slices.BinarySearch(list, x)
	out := append(make([]T, 0, len(list)+1), list[:at]...)
	if in {
		return append(append(out, x), list[at:]...)
	}
	return append(out, list[at+1:]...)
}
