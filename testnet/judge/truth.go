// Package judge knows the truth about who holds what, and scores what peers answer and whom they choose.
//
// No node reads it: a network that could look up the truth would prove nothing. It is read-only after New and safe for
// concurrent use. It costs one bit for each pair of a peer and a key, and four bytes for each holding.
package judge

import (
	"math/bits"
	"slices"
)

// Truth is who holds what. Peers and keys are numbered from 0.
type Truth struct {
	keys    int
	sizes   []int
	sets    [][]uint64 // of every peer, one bit a key
	holders []uint32   // of key 0, then of key 1, …, each ascending
	starts  []uint32   // where a key's holders start; one more than keys
}

// New takes, for every peer, the numbers of the keys that it holds: ascending, each below keys.
func New(keys int, collections [][]uint32) *Truth {
	t := &Truth{keys: keys, sizes: make([]int, len(collections)), sets: make([][]uint64, len(collections)), starts: make([]uint32, keys+1)}
	for p, c := range collections {
		t.sizes[p] = len(c)
		t.sets[p] = make([]uint64, (keys+63)/64)
		for _, k := range c {
			t.sets[p][k/64] |= 1 << (k % 64)
			t.starts[k+1]++
		}
	}
	for k := range keys {
		t.starts[k+1] += t.starts[k]
	}
	t.holders = make([]uint32, t.starts[keys])
	next := slices.Clone(t.starts[:keys])
	for p, c := range collections {
		for _, k := range c {
			t.holders[next[k]] = uint32(p)
			next[k]++
		}
	}
	return t
}

// Has reports whether the peer holds the key.
func (t *Truth) Has(peer int, key uint32) bool { return t.sets[peer][key/64]>>(key%64)&1 == 1 }

// Holders are the peers that hold the key, ascending. The slice is shared: it must not be changed.
func (t *Truth) Holders(key uint32) []uint32 { return t.holders[t.starts[key]:t.starts[key+1]] }

// Findable is how many peers other than the asker hold the key.
func (t *Truth) Findable(asker int, key uint32) int {
	n := len(t.Holders(key))
	if t.Has(asker, key) {
		n--
	}
	return n
}

// Common is the number of keys that both peers hold. It takes a pass over one bit a key.
func (t *Truth) Common(a, b int) int {
	n := 0
	for i, w := range t.sets[a] {
		n += bits.OnesCount64(w & t.sets[b][i])
	}
	return n
}

// Share is the part of a's collection that b holds, from 0 to 1.
func (t *Truth) Share(a, b int) float64 {
	if t.sizes[a] == 0 {
		return 0
	}
	return float64(t.Common(a, b)) / float64(t.sizes[a])
}
