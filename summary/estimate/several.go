package estimate

import (
	"fmt"
	"math"
)

// EstimateCommon estimates the number of elements that several sets have in common, from the ones counted in each
// filter and in the AND of all. It extends Lemma 3 to more than two filters, which the paper leaves to the reader. A
// bit of the AND is set by a common element, or by other elements in all filters. Elements that only some of the sets
// share are treated as different, so they make the estimate too high. For two filters the value is that of
// [Array.EstimateOverlap]. The interval is normal, by the delta method. It is saturated if the AND is full. An error
// names the argument that is out of its range. O(filters), times the steps of a bisection.
func (a Array) EstimateCommon(confidence float64, all int, each ...int) (Interval, error) {
	n, err := a.commonOf(all, each)
	if err == nil {
		err = checkConfidence(confidence)
	}
	switch {
	case err != nil:
		return Interval{}, err
	case math.IsInf(n, 1):
		return saturated(0, confidence), nil
	}
	most := math.Inf(1)
	for _, t := range each {
		most = min(most, a.elements(float64(t)))
	}
	return around(n, a.commonVariance(n, each), confidence).clip(most, most), nil
}

// commonVariance returns the variance of the estimate if n elements are common. It is the sum of two variances: of the
// s bits that common elements set, and of the bits that other elements set in all filters by chance. In each filter
// the other bits are a random set of known size among the m-s bits left. So their AND has the variance (m-s) q (1 - q(1
// + Σ(1/p-1))), q = Πp.
func (a Array) commonVariance(n float64, each []int) float64 {
	m, s := a.counted(), a.expectedOnes(n)
	rest := m - s
	q, odds, slope := 1.0, 1.0, 0.0 // slope: relative change of q for one more bit in s
	for _, t := range each {
		p := max(0, float64(t)-s) / rest
		if p == 0 {
			q = 0
			break
		}
		q *= p
		odds += 1/p - 1
		slope += (1 - 1/p) / rest // d ln p / ds
	}
	chance := max(0, rest*q*(1-float64(q*odds)))
	gain := 1.0 // change of the AND's ones for each further bit that common elements set
	if q > 0 {
		gain = 1 - q + float64(rest*q*slope)
	}
	perBit := 1 / (rest * -a.perElement())
	v := a.variances()
	variance := v.Covariance(v.Load(n))
	if gain > 0 {
		variance += float64(chance / (gain * gain) * perBit * perBit)
	}
	return variance
}

// commonOf returns the value of EstimateCommon; +Inf if the AND is full.
func (a Array) commonOf(all int, each []int) (float64, error) {
	if err := a.valid(); err != nil {
		return 0, err
	}
	if len(each) == 0 {
		return 0, fmt.Errorf("estimate: 0 filters: %w, at least 1", errRange)
	}
	least := math.MaxInt
	for i, t := range each {
		if err := a.checkCount(fmt.Sprintf("count %d", i), t); err != nil {
			return 0, err
		}
		least = min(least, t)
	}
	if all < 0 || all > least {
		return 0, fmt.Errorf("estimate: all %d: %w, 0 to %d", all, errRange, least)
	}
	m := a.counted()
	enough := func(s float64) bool { // whether the expected ones of the AND reach all, if common elements set s bits
		return a.allOnes(s, each) >= float64(all)
	}
	switch {
	case float64(all) >= m:
		return math.Inf(1), nil
	case enough(0):
		return 0, nil
	case len(each) == 1 || all == least:
		return a.elements(float64(all)), nil
	}
	return a.elements(bisect(0, float64(all), enough)), nil
}

// allOnes returns the expected number of ones in the AND if common elements set s bits.
func (a Array) allOnes(s float64, each []int) float64 {
	m := a.counted()
	rest := m - s
	for _, t := range each {
		rest *= (float64(t) - s) / (m - s)
	}
	return s + rest
}
