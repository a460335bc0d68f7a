package estimate

import "math"

// printedHalfWidth is the smallest distance d on both sides of the estimate at which the two tails, as the paper's
// Tables 3 and 6 take them (a quarter in the exponent on the left, a half on the right), are at most alpha together.
func (a Array) printedHalfWidth(t, alpha float64) float64 {
	n := a.elements(t)
	enough := func(d float64) bool {
		left := 0.0
		if d < n {
			left = weakLowTail(t, a.ExpectedOnes(n-d))
		}
		return left+highTail(t, a.ExpectedOnes(n+d)) <= alpha
	}
	high := max(n, 1)
	for range 64 {
		if enough(high) {
			return bisect(0, high, enough)
		}
		high *= 2
	}
	return math.Inf(1) // even a full array is not unlikely enough
}

// weakLowTail is the simplified Chernoff bound for at least t ones where s are expected.
func weakLowTail(t, s float64) float64 {
	if s >= t-1 {
		return 1
	}
	d := (t - 1 - s) / s
	return math.Exp(-s * d * d / 4)
}

// bisect returns the smallest value between low and high that is enough, given that high is and that whatever is above
// an enough value is too.
func bisect(low, high float64, enough func(float64) bool) float64 {
	for range 200 {
		middle := low + float64((high-low)/2)
		if middle <= low || middle >= high {
			break
		}
		if enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
