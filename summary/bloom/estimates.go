package bloom

import "github.com/venn-p2p/venn/summary/estimate"

// array is what the estimates need to know of f.
func (f *Filter) array() estimate.Array {
	return estimate.Array{Bits: f.params.BlockBits, Blocks: f.params.Blocks, Hashes: f.params.Hashes}
}

// EstimateLen estimates the number of different keys added, from the bits set, with an interval of the given confidence
// (between 0 and 1). See [estimate.Array.Cardinality]. O(m).
func (f *Filter) EstimateLen(confidence float64) (estimate.Interval, error) {
	return f.array().Cardinality(f.OnesCount(), confidence)
}

// Overlap is what two filters tell about their sets.
type Overlap struct {
	Intersection estimate.Interval // keys in both
	Union        estimate.Interval // keys in either
	Jaccard      float64           // the share of the union that both have; 0 if the union is empty or the filters are full
}

// EstimateOverlap estimates how many keys two filters share, with intervals of the given confidence (between 0 and 1).
// The filters must match but for the number of blocks, else the error is matched by ErrMismatch. See
// [estimate.Array.Intersection]. O(m).
func (f *Filter) EstimateOverlap(g *Filter, confidence float64) (Overlap, error) {
	if err := f.matches(g); err != nil {
		return Overlap{}, err
	}
	if g.params.Blocks < f.params.Blocks {
		f, g = g, f
	}
	n := f.params.Bits()
	c := estimate.Counts{First: f.OnesCount(), Second: countRange(g.words, 0, n), Both: countAndRange(f.words, g.words, 0, n)}
	var o Overlap
	var err error
	if o.Intersection, err = f.array().Intersection(c, confidence); err != nil {
		return Overlap{}, err
	}
	if o.Union, err = f.array().Union(c, confidence); err != nil {
		return Overlap{}, err
	}
	if !o.Intersection.Saturated && !o.Union.Saturated && o.Union.Value > 0 {
		o.Jaccard = o.Intersection.Value / o.Union.Value
	}
	return o, nil
}
