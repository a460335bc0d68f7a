package estimate

import "fmt"

// EstimateIntersection estimates the number of elements that two sets of exactly n1 and n2 elements have in common.
// Because each set's size is known, the error of its count is, too. The error of the union correlates with these
// errors, so fractions of them are subtracted (control variates). So the estimate is at least as good as
// [Array.EstimateOverlap], and much better for sets that are nearly equal. The interval is normal. An error names the
// argument that is out of its range. O(1).
func (a Array) EstimateIntersection(c Counts, n1, n2, confidence float64) (Interval, error) {
	if err := a.checkCounts(c, confidence); err != nil {
		return Interval{}, err
	}
	if !(n1 >= 0 && n2 >= 0) {
		return Interval{}, fmt.Errorf("estimate: known sizes %v, %v: %w, at least 0", n1, n2, errRange)
	}
	if float64(c.either()) >= a.counted() {
		return saturated(0, confidence), nil
	}
	b1, b2, variance := a.variances().Control(a.loads(c))
	union := a.elements(float64(c.either())) -
		float64(b1*(a.elements(float64(c.First))-n1)) - float64(b2*(a.elements(float64(c.Second))-n2))
	top := min(n1, n2)
	return around(n1+n2-union, variance, confidence).clip(top, top), nil
}
