package bloom

import (
	"math"
	"slices"
)

// Dynamic is a dynamic block-partitioned Bloom filter, D-BBF (Papapetrou et al., section 4): a row of batches, each a
// block-partitioned filter. Keys go into the last batch; at Threshold keys it is frozen and a new one begun. A key is
// in the set if any batch says so. So it grows with a set of unknown size, and can be cut to fewer blocks in all
// batches. With a Window it remembers the last keys only.
//
// It costs O(λ k) per question and (when a batch begins) one allocation of a batch's length per Threshold keys. The
// zero value is only good for ReadFrom.
type Dynamic struct {
	params  DynamicParams
	batches []*Filter // oldest first, never empty
	last    int       // keys in the last batch
	short   []int     // by how many keys each frozen batch is below the threshold: Merge leaves some
	missing int       // sum of short
}

// NewDynamic returns an empty filter of one batch, or an error that names the parameters out of range. O(m) for a batch
// of m bits.
func NewDynamic(p DynamicParams) (*Dynamic, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	d := &Dynamic{params: p}
	d.begin()
	return d, nil
}

// begin adds an empty batch, and forgets those beyond the window.
func (d *Dynamic) begin() {
	words := make([]uint64, wordsFor(d.params.Batch.Bits()))
	if len(d.batches) == 0 {
		d.batches = []*Filter{newFilter(d.params.Batch, words)}
	} else {
		next := *d.batches[0]
		next.words = words
		d.batches, d.short = append(d.batches, &next), append(d.short, 0)
	}
	d.last = 0
	d.forget()
}

// forget drops the oldest batches beyond the window.
func (d *Dynamic) forget() {
	if over := len(d.batches) - d.params.Window; d.params.Window > 0 && over > 0 {
		d.batches = slices.Delete(d.batches, 0, over)
		for _, short := range d.short[:over] {
			d.missing -= short
		}
		d.short = slices.Delete(d.short, 0, over)
	}
}

// Params returns the filter's parameters; Batch.Blocks is what Truncate left. O(1).
func (d *Dynamic) Params() DynamicParams { return d.params }

// Len is the number of keys added and not forgotten. A key added twice counts twice: who expects that asks Contains
// first. O(1).
//
// The binary form does not say which batches Merge left short. If such a filter was read and merged into one with a
// Window, Len is at most the number of keys, until those batches are forgotten.
func (d *Dynamic) Len() int { return d.capacity() - d.missing }

// capacity is Len if all frozen batches were full.
func (d *Dynamic) capacity() int { return (len(d.batches)-1)*d.params.Threshold + d.last }

// Add adds a key. O(k), and a batch is allocated every Threshold keys.
func (d *Dynamic) Add(key []byte) { d.AddHash(d.params.Batch.Seed.Hash(key)) }

// AddHash adds a key by its hash under the filter's Seed. As Add.
func (d *Dynamic) AddHash(h Hash) {
	if d.last == d.params.Threshold {
		d.begin()
	}
	d.batches[len(d.batches)-1].AddHash(h)
	d.last++
}

// Contains reports whether the key may have been added. O(λ k), no allocation.
func (d *Dynamic) Contains(key []byte) bool { return d.ContainsHash(d.params.Batch.Seed.Hash(key)) }

// ContainsHash is Contains for a key's hash under the filter's Seed. O(λ k).
func (d *Dynamic) ContainsHash(h Hash) bool {
	for _, b := range slices.Backward(d.batches) { // what came last is asked for most
		if b.ContainsHash(h) {
			return true
		}
	}
	return false
}

// FalsePositiveRate is the false-positive rate of the filter as its bits are: Filter.FalsePositiveRate of all batches
// together. What to expect from n alone is Params().FalsePositiveRate(Len()). O(bits).
func (d *Dynamic) FalsePositiveRate() float64 {
	var log float64
	for _, b := range d.batches {
		log += math.Log1p(-b.FalsePositiveRate())
	}
	return -math.Expm1(log)
}

// Truncate drops all but the first blocks of every batch, also of those to come. It panics if blocks is less than 1,
// and changes nothing if there are no more. O(λ).
func (d *Dynamic) Truncate(blocks int) {
	for _, b := range d.batches {
		b.Truncate(blocks)
	}
	d.params.Batch.Blocks = min(blocks, d.params.Batch.Blocks)
}

// clone returns a copy that shares nothing that is ever written.
func (d *Dynamic) clone() *Dynamic {
	c := *d
	c.short = slices.Clone(d.short)
	c.batches = make([]*Filter, len(d.batches))
	for i, b := range d.batches {
		c.batches[i] = b.Clone()
	}
	return &c
}

// equal reports whether parameters, number of keys and all bits are equal.
func (d *Dynamic) equal(e *Dynamic) bool {
	return d.params == e.params && d.last == e.last && d.missing == e.missing && slices.EqualFunc(d.batches, e.batches, (*Filter).Equal)
}
