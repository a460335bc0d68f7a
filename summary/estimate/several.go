package estimate

import (
	"fmt"
	"math"
)

// Common estimates the number of elements that several sets have in common, from the ones counted in each filter and in
// the AND of all. It carries Lemma 3 to more than two filters, which the paper leaves to the reader: a bit of the AND
// is set by a common element, or by others in all filters. Elements that only some of the sets share count as
// different, so they make the estimate too high. For two filters it is the value of [Array.Intersection]. +Inf if the
// AND is full.
func (a Array) Common(all int, each ...int) (float64, error) {
	if err := a.valid(); err != nil {
		return 0, err
	}
	if len(each) == 0 {
		return 0, fmt.Errorf("estimate: 0 filters: %w, at least 1", ErrRange)
	}
	least := math.MaxInt
	for i, t := range each {
		if err := a.checkCount(fmt.Sprintf("count %d", i), t); err != nil {
			return 0, err
		}
		least = min(least, t)
	}
	if all < 0 || all > least {
		return 0, fmt.Errorf("estimate: all %d: %w, 0 to %d", all, ErrRange, least)
	}
	m := a.counted()
	enough := func(s float64) bool { // whether s ones of common elements lead to all ones or more
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

// allOnes is the number of ones expected in the AND if s bits are set by common elements.
func (a Array) allOnes(s float64, each []int) float64 {
	m := a.counted()
	rest := m - s
	for _, t := range each {
		rest *= (float64(t) - s) / (m - s)
	}
	return s + rest
}
