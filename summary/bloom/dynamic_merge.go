package bloom

import (
	"fmt"
	"math"
	"slices"

	"github.com/venn-p2p/venn/summary/estimate"
)

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
	e = e.clone()
	own, other := d.batches[len(d.batches)-1], e.batches[len(e.batches)-1]
	frozen := slices.Concat(d.batches[:len(d.batches)-1], e.batches[:len(e.batches)-1])
	short := slices.Concat(d.short, e.short)
	switch {
	case d.last+e.last <= d.params.Threshold:
		if err := own.Merge(other); err != nil {
			return err
		}
		d.last += e.last
	case d.last < e.last:
		short = append(short, d.params.Threshold-e.last)
		frozen = append(frozen, other)
	default:
		short = append(short, d.params.Threshold-d.last)
		frozen = append(frozen, own)
		own, d.last = other, e.last
	}
	d.batches, d.short, d.missing = append(frozen, own), short, 0
	for _, s := range short {
		d.missing += s
	}
	d.forget()
	return nil
}

// Fold halves the length of every block, also of batches to come, as Filter.Fold does. It panics if BlockBits is odd.
// O(bits).
func (d *Dynamic) Fold() {
	for _, b := range d.batches {
		b.Fold()
	}
	d.params.Batch.BlockBits /= 2
}

// ContainsAll sets found[i] to whether keys[i] may have been added. len(found) must be len(keys). It hashes each key
// once and asks one batch after the other, as Filter.ContainsAll does. O(λ k) a key.
func (d *Dynamic) ContainsAll(keys [][]byte, found []bool) {
	found = found[:len(keys)]
	clear(found)
	var hashes [batch]Hash
	var at [batch]int
	var in [batch]bool
	for begin := 0; begin < len(keys); begin += batch {
		left := min(batch, len(keys)-begin)
		for i := range left {
			hashes[i], at[i] = d.params.Batch.Seed.Hash(keys[begin+i]), begin+i
		}
		for _, b := range slices.Backward(d.batches) {
			b.containsAllHashes(hashes[:left], in[:left])
			rest := 0
			for i := range left {
				if found[at[i]] = in[i]; !in[i] {
					hashes[rest], at[rest] = hashes[i], at[i]
					rest++
				}
			}
			left = rest
		}
	}
}

// EstimateLen estimates the number of different keys in each batch, summed, with an interval of the given confidence
// (between 0 and 1). A key in two batches counts twice. It is saturated if a batch is full. O(bits).
func (d *Dynamic) EstimateLen(confidence float64) (estimate.Interval, error) {
	sum := estimate.Interval{Confidence: confidence}
	below, above := 0.0, 0.0 // squares of the halves of the interval, which add up as variances do
	for _, b := range d.batches {
		i, err := b.EstimateLen(confidence)
		if err != nil {
			return estimate.Interval{}, err
		}
		sum.Saturated = sum.Saturated || i.Saturated
		if i.Saturated {
			sum.Low += i.Low
			continue
		}
		sum.Value += i.Value
		below += float64((i.Value - i.Low) * (i.Value - i.Low))
		above += float64((i.High - i.Value) * (i.High - i.Value))
	}
	sum.Low += max(0, sum.Value-math.Sqrt(below))
	sum.High = sum.Value + math.Sqrt(above)
	if sum.Saturated {
		sum.Value, sum.High = math.Inf(1), math.Inf(1)
	}
	return sum, nil
}
