package estimate

import (
	"fmt"
	"math"
)

// EstimateIntersection estimates the number of elements that two sets of exactly n1 and n2 elements have in common. The
// size of each set is known, so the error of its count is, too. The union is likely off by a known share of these
// errors (control variates). So it is at least as good as [Array.EstimateOverlap], and much better for sets that are
// nearly equal. The interval is normal. An error names what is out of its range. O(1).
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
	b1, b2, variance := a.control(a.loads(c))
	union := a.elements(float64(c.either())) -
		float64(b1*(a.elements(float64(c.First))-n1)) - float64(b2*(a.elements(float64(c.Second))-n2))
	top := min(n1, n2)
	return around(n1+n2-union, variance, confidence).clip(top, top), nil
}

// IntersectionKnownDeviation is the standard deviation of the value of [Array.EstimateIntersection] (delta method). It
// is +Inf from loads of some hundred elements a bit on. O(1).
func (a Array) IntersectionKnownDeviation(n1, n2, n12 float64) float64 {
	_, _, variance := a.control(loads{a.load(n1), a.load(n2), a.load(n12)})
	return math.Sqrt(variance)
}

// control is the regression of the error of the union's estimate on those of the two sets. It returns the share of each
// that the union's estimate has to lose, and the variance that stays.
func (a Array) control(x loads) (b1, b2, variance float64) {
	g1, g2, g12, gu := a.covariance(x.first), a.covariance(x.second), a.covariance(x.both), a.covariance(x.either())
	if math.IsInf(gu, 1) || math.IsInf(g1*g2, 1) { // at such loads every bit counted is a one
		return 0.5, 0.5, math.Inf(1)
	}
	det := float64(g1*g2) - float64(g12*g12)
	if det <= 1e-12*g1*g2 { // the same set twice: one of the two says all
		return 0.5, 0.5, max(gu-float64((g1+g2)/2), 0)
	}
	b1 = (float64(g1*g2) - float64(g12*g2)) / det
	b2 = (float64(g1*g2) - float64(g12*g1)) / det
	return b1, b2, max(gu-float64(g1*b1)-float64(g2*b2), 0)
}
