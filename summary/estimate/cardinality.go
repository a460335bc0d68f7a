package estimate

import "math"

// EstimateCardinality estimates the number of elements from the number of ones counted (equation 3 and Theorem 3).
// confidence is between 0 and 1. For the union of sets, count the ones of the OR of their filters. An error names the
// argument that is out of its range. O(1).
func (a Array) EstimateCardinality(ones int, confidence float64) (Interval, error) {
	if err := a.check(confidence, "ones", ones); err != nil {
		return Interval{}, err
	}
	return a.cardinality(float64(ones), confidence), nil
}

func (a Array) cardinality(t, confidence float64) Interval {
	if t >= a.counted() {
		return saturated(a.fullBelow(1-confidence), confidence)
	}
	n := a.elements(t)
	i := around(n, a.variances().Covariance(a.loadOf(t)), confidence).clip(n, math.Inf(1))
	if t == 0 {
		i.High = a.unseen(1 - confidence)
	}
	return i
}

// unseen returns the number of elements that set none of the counted bits with probability alpha; 0 if all bits are
// counted. The normal interval leaves out these elements, because it uses the deviation at the estimated value.
func (a Array) unseen(alpha float64) float64 {
	hits := float64(max(a.Hashes, 1) * max(a.Blocks, 1))
	counted := a.counted() / float64(max(a.Blocks, 1)) / float64(a.Bits) // fraction of a block that is counted
	return math.Log(alpha) / float64(hits*math.Log1p(-counted))
}

// fullBelow returns the number of elements with which all counted bits are ones with probability alpha.
func (a Array) fullBelow(alpha float64) float64 {
	perBit := float64(a.Bits) / float64(max(a.Hashes, 1))
	return max(0, perBit*math.Log(a.counted()/-math.Log(alpha)))
}

func (a Array) check(confidence float64, name string, t int) error {
	if err := a.valid(); err != nil {
		return err
	}
	if err := checkConfidence(confidence); err != nil {
		return err
	}
	return a.checkCount(name, t)
}
