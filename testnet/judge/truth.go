// Package judge knows the truth about who holds what, and scores what peers answer and which peers they choose.
//
// No node reads it: a network that could look up the truth would prove nothing. It is read-only after New and safe for
// concurrent use. What it costs, package holdings says.
package judge

import "github.com/venn-p2p/venn/testnet/holdings"

// Truth is who holds what. Peers and keys are numbered from 0.
type Truth struct{ *holdings.Table[int32] }

// New takes, for every peer, the numbers of the keys that it holds: ascending, each below keys. They are kept.
func New(keys int, collections [][]uint32) *Truth {
	h, err := holdings.New[int32](keys, collections)
	if err != nil {
		panic(err) // the data has been checked
	}
	return &Truth{h}
}

// Has reports whether the peer holds the key.
func (t *Truth) Has(peer int, key uint32) bool { return t.Holds(int32(peer), key) }

// Findable is how many peers other than the asker hold the key.
func (t *Truth) Findable(asker int, key uint32) int {
	n := len(t.Holders(key))
	if t.Has(asker, key) {
		n--
	}
	return n
}

// set is a collection with one bit a key, for those who look into it often.
type set struct {
	bits []uint64
	size int
}

func (t *Truth) set(peer int) set {
	c := t.Collection(int32(peer))
	s := set{make([]uint64, (t.Keys()+63)/64), len(c)}
	for _, k := range c {
		s.bits[k/64] |= 1 << (k % 64)
	}
	return s
}

// share is the part of the set that is in a collection.
func (s set) share(of []uint32) float64 {
	if s.size == 0 {
		return 0
	}
	n := 0
	for _, k := range of {
		n += int(s.bits[k/64] >> (k % 64) & 1)
	}
	return float64(n) / float64(s.size)
}
