package frequency

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// Top finds the most frequent keys of a stream, heavy hitters: a Sketch, and the keys of the highest estimates seen. A
// key that makes up more than 1/k of all counts is among them, unless k others are overestimated beyond it. With the
// sketch's eps well below 1/k that is unlikely. Each of the k keys takes about 48 bytes. Make one with NewTop.
type Top struct {
	sketch *Sketch
	limit  int
	heap   []hitter       // the least frequent first
	at     map[uint64]int // where in the heap a key is
}

// hitter is a key and its estimate when it was last added.
type hitter struct {
	key   uint64
	count uint32
}

// NewTop returns an empty Top of k keys, at least one, that counts in a sketch of form p. O(counters).
func NewTop(k int, p Params) (*Top, error) {
	if k < 1 {
		return nil, fmt.Errorf("%w: a top of %d keys, want at least 1", errParams, k)
	}
	s, err := New(p)
	if err != nil {
		return nil, err
	}
	return &Top{sketch: s, limit: k, at: map[uint64]int{}}, nil
}

// Add counts key n more times, conservatively. O(depth · copies + log k).
func (t *Top) Add(key uint64, n uint32) {
	t.sketch.AddConservative(key, n)
	h := hitter{key, t.sketch.Estimate(key)}
	i, there := t.at[key]
	switch {
	case there:
	case len(t.heap) < t.limit:
		i = len(t.heap)
		t.heap = append(t.heap, h)
	case t.heap[0].before(h):
		i = 0
		delete(t.at, t.heap[0].key)
	default:
		return
	}
	t.heap[i], t.at[key] = h, i
	t.down(t.up(i))
}

// before orders by count, and equal counts by key, so that the result does not depend on the order of maps.
func (h hitter) before(o hitter) bool {
	return h.count < o.count || h.count == o.count && h.key < o.key
}

// up moves an entry towards the root, and returns where it ends.
func (t *Top) up(i int) int {
	for i > 0 && t.heap[i].before(t.heap[(i-1)/2]) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

// down moves an entry towards the leaves.
func (t *Top) down(i int) {
	for {
		least := i
		for _, c := range []int{2*i + 1, 2*i + 2} {
			if c < len(t.heap) && t.heap[c].before(t.heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		t.swap(i, least)
		i = least
	}
}

func (t *Top) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.at[t.heap[i].key], t.at[t.heap[j].key] = i, j
}

// All yields the keys and their estimates, the most frequent first. An estimate is never too low. O(k log k).
func (t *Top) All() iter.Seq2[uint64, uint32] {
	return func(yield func(uint64, uint32) bool) {
		for _, h := range slices.SortedFunc(slices.Values(t.heap), func(a, b hitter) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(b.key, a.key))
		}) {
			if !yield(h.key, h.count) {
				return
			}
		}
	}
}
