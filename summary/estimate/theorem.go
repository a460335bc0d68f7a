package estimate

import "math"

// The tails of Theorems 1 to 3 (Chernoff bounds), and their inverses. t is the number of ones counted, s the number
// expected.

// lowTail bounds the probability of at least t ones where only s < t-1 are expected.
func lowTail(t, s float64) float64 {
	if s >= t-1 {
		return 1
	}
	return math.Exp(t - 1 - s + float64((t-1)*math.Log(s/(t-1))))
}

// highTail bounds the probability of at most t ones where s > t+1 are expected.
func highTail(t, s float64) float64 {
	if s <= t+1 {
		return 1
	}
	return math.Exp(-(t + 1 - s) * (t + 1 - s) / (2 * s))
}

// theorem1 is the confidence with which, by Theorems 1 and 3, the cardinality lies between low and high when ones
// bits were counted: one less both tails, which may come out below zero.
func (a Array) theorem1(ones, low, high float64) float64 {
	return 1 - lowTail(ones, a.ExpectedOnes(low)) - highTail(ones, a.ExpectedOnes(high))
}

// fewerOnes is the expected number of ones s < t at which lowTail is e^-tail; 0 if there is none.
func fewerOnes(t, tail float64) float64 {
	if t <= 1 {
		return 0
	}
	// With s = (t-1)e^-y the exponent is -(t-1)(y + e^-y - 1): solve y + expm1(-y) = tail/(t-1), convex in y, by
	// Newton from above.
	want := tail / (t - 1)
	y := want + math.Sqrt(2*want) // at least the solution
	for range 60 {
		step := (y + math.Expm1(-y) - want) / -math.Expm1(-y)
		if y -= step; step <= 1e-15*y {
			break
		}
	}
	return (t - 1) * math.Exp(-y)
}

// moreOnes is the expected number of ones s > t at which highTail is e^-tail.
func moreOnes(t, tail float64) float64 {
	return t + 1 + tail + math.Sqrt(float64(tail*tail)+float64(2*tail*(t+1)))
}
