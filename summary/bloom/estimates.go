package bloom

import "github.com/venn-p2p/venn/summary/estimate"

// array is what the estimates need to know of f.
func (f *View) array() estimate.Array {
	return estimate.Array{Bits: f.params.BlockBits, Blocks: f.params.Blocks, Hashes: f.params.Hashes}
}

// EstimateLen estimates the number of different keys added, from the bits set, with an interval of the given confidence
// (between 0 and 1). See [estimate.Array.Cardinality]. O(m).
func (f *View) EstimateLen(confidence float64) (estimate.Interval, error) {
	return f.array().EstimateCardinality(f.OnesCount(), confidence)
}

// EstimateOverlap estimates how many keys two filters share, with intervals of the given confidence (between 0 and 1).
// The filters must match but for the number of blocks, else the error is matched by ErrMismatch. See
// [estimate.Array.Overlap]. O(m).
func (f *View) EstimateOverlap(g *Filter, confidence float64) (estimate.Overlap, error) {
	if err := f.matches(g); err != nil {
		return estimate.Overlap{}, err
	}
	shorter := f // has as many blocks as both
	if g.params.Blocks < f.params.Blocks {
		shorter = &g.View
	}
	n := shorter.params.Bits()
	c := estimate.Counts{First: countRange(f.words, 0, n), Second: countRange(g.words, 0, n), Both: countAndRange(f.words, g.words, 0, n)}
	return shorter.array().EstimateOverlap(c, confidence)
}
