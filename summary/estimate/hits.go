package estimate

import "fmt"

// Hits estimates how many of own elements another set holds, when hits of them were found in a filter of that set. With
// a false-positive rate of f it is n12 = (hits - f own)/(1-f). Better than an intersection of filters when the other
// filter is dense. The interval is normal: of the elements that are not in the other set, each is a false positive with
// probability f. A rate of 1 says nothing: saturated, with Low 0. An error names what is out of its range. O(1).
func Hits(hits, own int, f, confidence float64) (Interval, error) {
	switch {
	case own < 0:
		return Interval{}, fmt.Errorf("estimate: own %d: %w, at least 0", own, errRange)
	case hits < 0 || hits > own:
		return Interval{}, fmt.Errorf("estimate: hits %d: %w, 0 to own = %d", hits, errRange, own)
	case !(f >= 0 && f <= 1):
		return Interval{}, fmt.Errorf("estimate: f %v: %w [0, 1]", f, errRange)
	}
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if f == 1 {
		return saturated(0, confidence), nil
	}
	n := float64(own)
	common := (float64(hits) - float64(f*n)) / (1 - f)
	foreign := n - max(common, 0)
	return around(common, foreign*f/(1-f), confidence).clip(n, n), nil
}
