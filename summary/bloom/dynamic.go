package bloom

import (
	"fmt"
	"math"
	"slices"
)

// Dynamic is a dynamic block-partitioned Bloom filter, D-BBF (Papapetrou et al., section 4): a row of batches, each a
// block-partitioned filter. Keys go into the last batch; at Threshold keys it is frozen and a new one begun. A key is
// in the set if it is in any batch. So the filter grows with a set of unknown size, and can be cut to fewer blocks in
// all batches. With a Window it remembers the last keys only.
//
// A lookup takes O(λ k) for λ batches of k hash functions. Every Threshold keys, Add allocates a batch.
type Dynamic struct {
	params  DynamicParams
	batches []filling // oldest first; none in the zero value only
}

// filling is a batch and the number of keys added to it: Threshold in a frozen batch, or fewer after a Merge.
type filling struct {
	*Filter
	keys int
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

// begin adds an empty batch, and forgets the oldest beyond the window.
func (d *Dynamic) begin() {
	d.append(make([]uint64, wordsFor(d.params.Batch.Bits())), 0)
	d.forget()
}

// append adds a batch with the given bits. All batches share one table of hash functions.
func (d *Dynamic) append(words []uint64, keys int) {
	if len(d.batches) == 0 {
		d.batches = append(d.batches, filling{newFilter(d.params.Batch, words), keys})
		return
	}
	next := *d.batches[0].Filter
	next.words = words
	d.batches = append(d.batches, filling{&next, keys})
}

// forget drops the oldest batches beyond the window.
func (d *Dynamic) forget() {
	if over := len(d.batches) - d.params.Window; d.params.Window > 0 && over > 0 {
		d.batches = slices.Delete(d.batches, 0, over)
	}
}

// last returns the batch that keys go into.
func (d *Dynamic) last() *filling { return &d.batches[len(d.batches)-1] }

// Params returns the filter's parameters; Batch.Blocks is the number that Truncate left. O(1).
func (d *Dynamic) Params() DynamicParams { return d.params }

// Len returns the number of keys added and not forgotten. A key added twice counts twice; TestAndAdd detects it. O(λ).
//
// The binary form does not record which batches Merge left short. If a filter with short batches was read and merged
// into one with a Window, Len may be below the number of keys until those batches are forgotten.
func (d *Dynamic) Len() int {
	n := 0
	for _, b := range d.batches {
		n += b.keys
	}
	return n
}

// SizeBytes returns the memory of the bits. O(λ).
func (d *Dynamic) SizeBytes() int {
	n := 0
	for _, b := range d.batches {
		n += b.SizeBytes()
	}
	return n
}

// Add adds a key. O(k), and a batch is allocated every Threshold keys.
func (d *Dynamic) Add(key []byte) { d.AddHash(d.params.Batch.Hasher.Hash(key)) }

// AddHash adds a key by its hash under the filter's Hasher, like Add.
func (d *Dynamic) AddHash(h Hash) {
	if len(d.batches) == 0 {
		panic(zeroValue)
	}
	b := d.last()
	if b.keys == d.params.Threshold {
		d.begin()
		b = d.last()
	}
	b.AddHash(h)
	b.keys++
}

// TestAndAdd adds a key and reports whether it may have been there before. O(λ k).
func (d *Dynamic) TestAndAdd(key []byte) bool {
	h := d.params.Batch.Hasher.Hash(key)
	there := d.ContainsHash(h)
	d.AddHash(h)
	return there
}

// Contains reports whether the key may have been added. O(λ k), no allocation.
func (d *Dynamic) Contains(key []byte) bool { return d.ContainsHash(d.params.Batch.Hasher.Hash(key)) }

// ContainsHash does what Contains does, by the key's hash under the filter's Hasher. O(λ k).
func (d *Dynamic) ContainsHash(h Hash) bool {
	for _, b := range slices.Backward(d.batches) { // most questions are about the latest keys
		if b.ContainsHash(h) {
			return true
		}
	}
	return false
}

// FalsePositiveRate returns the false-positive rate of all batches together, computed from their bits. O(bits).
func (d *Dynamic) FalsePositiveRate() float64 {
	none := 0.0 // logarithm of the probability that no batch answers yes
	for _, b := range d.batches {
		none += math.Log1p(-b.FalsePositiveRate())
	}
	return max(0, -math.Expm1(none)) // not -0
}

// Reset removes all keys, and all batches but one. O(m) for a batch of m bits.
func (d *Dynamic) Reset() {
	if len(d.batches) > 0 {
		d.batches = slices.Clone(d.batches[len(d.batches)-1:])
		d.last().Reset()
		d.last().keys = 0
	}
}

// Truncate drops all but the first blocks of every batch, also of batches to come. It panics if blocks is less than 1,
// and changes nothing if there are no more. O(λ).
func (d *Dynamic) Truncate(blocks int) {
	for _, b := range d.batches {
		b.Truncate(blocks)
	}
	d.params.Batch.Blocks = min(blocks, d.params.Batch.Blocks)
}

// Merge makes d the filter of the union of both sets of keys: the batches of e, copied, come before d's last one. The
// last batches become one if their keys fit, else the fuller one is frozen. A key that both have counts twice. Beyond
// d's Window, its own batches are forgotten first. Filters that differ in Batch or Threshold are an error matched by
// ErrMismatch, and d is unchanged. O(bits of e).
func (d *Dynamic) Merge(e *Dynamic) error {
	if d.params.Threshold != e.params.Threshold || d.params.Batch.Blocks != e.params.Batch.Blocks {
		return fmt.Errorf("%w: batches of %d and %d keys, %d and %d blocks", ErrMismatch,
			d.params.Threshold, e.params.Threshold, d.params.Batch.Blocks, e.params.Batch.Blocks)
	}
	if d.params.Batch != e.params.Batch {
		return mismatch(d.params.Batch, e.params.Batch)
	}
	if len(e.batches) == 0 {
		return nil
	}
	own, others := *d.last(), make([]filling, len(e.batches))
	for i, b := range e.batches {
		others[i] = filling{b.Clone(), b.keys}
	}
	other := others[len(others)-1]
	frozen := slices.Concat(d.batches[:len(d.batches)-1], others[:len(others)-1])
	switch {
	case own.keys+other.keys <= d.params.Threshold:
		if err := own.Merge(other.Filter); err != nil {
			return err
		}
		own.keys += other.keys
	case own.keys < other.keys:
		frozen = append(frozen, other)
	default:
		frozen = append(frozen, own)
		own = other
	}
	d.batches = append(frozen, own)
	d.forget()
	return nil
}
