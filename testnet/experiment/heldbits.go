package experiment

import "math/bits"

// heldBits is who holds what, a bit for each peer and key.
type heldBits struct {
	sets    [][]uint64
	holders []int // of each key
}

func newHoldings(keys int, collections [][]uint32) *heldBits {
	h := &heldBits{sets: make([][]uint64, len(collections)), holders: make([]int, keys)}
	for p, c := range collections {
		h.sets[p] = make([]uint64, (keys+63)/64)
		for _, k := range c {
			h.sets[p][k/64] |= 1 << (k % 64)
			h.holders[k]++
		}
	}
	return h
}

func (h *heldBits) has(peer int, key uint32) bool { return h.sets[peer][key/64]>>(key%64)&1 == 1 }

// others is how many but the asker hold a key.
func (h *heldBits) others(asker int, key uint32) int {
	return h.holders[key] - int(h.sets[asker][key/64]>>(key%64)&1)
}

// common is how many keys both hold.
func (h *heldBits) common(a, b int) int {
	n := 0
	for i, w := range h.sets[a] {
		n += bits.OnesCount64(w & h.sets[b][i])
	}
	return n
}
