package estimate

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/internal/variance"
)

// Counts holds the numbers of ones counted in two filters with equal parameters: in each filter, and in their AND.
type Counts struct {
	First, Second, Both int // t1, t2, t_and
}

// either returns the number of ones in the OR of the two filters.
func (c Counts) either() int { return c.First + c.Second - c.Both }

// EstimateOverlap estimates the number of elements that two sets have in common, from the ones counted in their
// filters. N1 and N2 of the result are estimates, too. If the union or the intersection cannot be known, its interval
// is saturated, and Jaccard and Containment are 0. Counts that no two filters of this form can have are an error. O(1).
func (a Array) EstimateOverlap(c Counts, confidence float64) (Overlap, error) {
	both, err := a.intersection(c, confidence)
	if err != nil {
		return Overlap{}, err
	}
	either := a.cardinality(float64(c.either()), confidence)
	first, second := a.cardinality(float64(c.First), confidence), a.cardinality(float64(c.Second), confidence)
	o := Overlap{N1: first.Value, N2: second.Value, Intersection: both, Union: either, Method: "ones of both filters and of their AND"}
	if !both.Saturated && !either.Saturated && either.Value > 0 {
		o.Jaccard = both.Value / either.Value
		o.Containment = both.Value / max(o.N1, both.Value)
	}
	return o, nil
}

// intersection estimates the number of elements in both sets (equation 6 of the paper). No bound is below 0, or above
// the upper bound of the smaller set's size. If the OR of the two filters is full, the result is saturated, with Low
// 0.
func (a Array) intersection(c Counts, confidence float64) (Interval, error) {
	if err := a.checkCounts(c, confidence); err != nil {
		return Interval{}, err
	}
	if float64(c.either()) >= a.counted() {
		return saturated(0, confidence), nil
	}
	i := around(a.common(c), a.variances().Intersection(a.loads(c)), confidence)
	if c.Both == 0 {
		i.High = max(i.High, a.unseen(1-confidence))
	}
	one, other := a.cardinality(float64(c.First), confidence), a.cardinality(float64(c.Second), confidence)
	return i.clip(min(one.Value, other.Value), min(one.High, other.High)), nil
}

// common returns the size of the intersection for which c.Both ones are expected in the AND (Ŝ⁻¹(t1, t2, t), equation
// 6).
func (a Array) common(c Counts) float64 {
	t1, t2, t := float64(c.First), float64(c.Second), float64(c.Both)
	return a.elements(t1) + a.elements(t2) - a.elements(t1+t2-t)
}

// loads returns the loads of the two sets and of their intersection, in hits a bit.
func (a Array) loads(c Counts) variance.Loads {
	x1, x2 := a.loadOf(float64(c.First)), a.loadOf(float64(c.Second))
	both := x1 + x2 - a.loadOf(float64(c.either()))
	return variance.Loads{First: x1, Second: x2, Both: min(max(both, 0), x1, x2)}
}

func (a Array) checkCounts(c Counts, confidence float64) error {
	if err := a.check(confidence, "First", c.First); err != nil {
		return err
	}
	if err := a.checkCount("Second", c.Second); err != nil {
		return err
	}
	if c.Both < 0 || c.Both > min(c.First, c.Second) {
		return fmt.Errorf("estimate: Both %d: %w, 0 to %d", c.Both, errRange, min(c.First, c.Second))
	}
	return a.checkCount("First+Second-Both", c.either())
}
