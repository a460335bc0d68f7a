package papers

import (
	"math"

	"github.com/venn-p2p/venn/summary/estimate"
)

// Interval has the bounds that a paper states for an estimate.
type Interval struct{ Value, Low, High float64 }

// Array is a filter whose bits are counted, with the intervals of Papapetrou, Siberski and Nejdl (2010). Package
// estimate has narrower ones.
type Array struct{ estimate.Array }

// counted returns the number of bits that are counted.
func (a Array) counted() float64 {
	l := a.Sample
	if l == 0 {
		l = a.Bits
	}
	return float64(l) * float64(max(a.Blocks, 1))
}

// ExpectedOnes returns the expected number of ones counted after n elements (Ŝ(n), Lemmas 1 and 4).
func (a Array) ExpectedOnes(n float64) float64 {
	return -a.counted() * math.Expm1(n*a.perElement())
}

// perElement returns the logarithm of the probability that an element leaves a bit unchanged.
func (a Array) perElement() float64 {
	return float64(max(a.Hashes, 1)) * math.Log1p(-1/float64(a.Bits))
}

// Elements returns the number of elements for which t ones are expected (Ŝ⁻¹(t), equation 3 and Theorem 3). It
// returns +Inf when all bits are ones.
func (a Array) Elements(t float64) float64 {
	if t >= a.counted() {
		return math.Inf(1)
	}
	return math.Log1p(-t/a.counted()) / a.perElement()
}

// BothOnes returns the expected number of ones in the AND of two filters (Lemma 3). The filters have t1 and t2 ones,
// and their sets have n elements in common.
func (a Array) BothOnes(t1, t2, n float64) float64 {
	s, m := a.ExpectedOnes(n), a.counted()
	return (float64(t1*t2) + float64(s*(m-t1-t2))) / (m - s)
}

// Common returns the size of the intersection for which t ones are expected in the AND of filters with t1 and t2 ones.
// It is Ŝ⁻¹(t1, t2, t), equation 6.
func (a Array) Common(t1, t2, t float64) float64 {
	return a.Elements(t1) + a.Elements(t2) - a.Elements(t1+t2-t)
}

// CardinalityPrinted returns the interval that Tables 3 and 6 follow. It extends by the same distance to both sides:
// the smallest at which both tails, as the tables compute them, are together at most 1-confidence.
func (a Array) CardinalityPrinted(t, confidence float64) Interval {
	n, d := a.Elements(t), a.printedHalfWidth(t, 1-confidence)
	return Interval{n, max(0, n-d), n + d}
}

// IntersectionPrinted returns the interval that Tables 4 and 5 follow: above the value the bound of Theorem 2, and
// below it the same distance.
func (a Array) IntersectionPrinted(c estimate.Counts, confidence float64) Interval {
	t1, t2, t := float64(c.First), float64(c.Second), float64(c.Both)
	n, high := a.Common(t1, t2, t), a.Common(t1, t2, moreOnes(t, math.Log(2/(1-confidence))))
	return Interval{n, max(0, 2*n-high), high}
}

// The tails of Theorems 1 to 3 (Chernoff bounds), and their inverses. t is the number of ones counted, s the number
// expected.

// highTail bounds the probability of at most t ones where s > t+1 are expected.
func highTail(t, s float64) float64 {
	if s <= t+1 {
		return 1
	}
	return math.Exp(-(t + 1 - s) * (t + 1 - s) / (2 * s))
}

// moreOnes returns the expected number of ones s > t at which highTail is e^-tail.
func moreOnes(t, tail float64) float64 {
	return t + 1 + tail + math.Sqrt(float64(tail*tail)+float64(2*tail*(t+1)))
}

// printedHalfWidth returns the smallest distance d to both sides of the estimate at which the two tails are together
// at most alpha. The tails are those of the paper's Tables 3 and 6: the exponent has a factor of a quarter on the
// left, and of a half on the right.
func (a Array) printedHalfWidth(t, alpha float64) float64 {
	n := a.Elements(t)
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
	return math.Inf(1) // even when all bits are expected to be ones, the tails exceed alpha
}

// weakLowTail returns the simplified Chernoff bound of the probability of at least t ones where s are expected.
func weakLowTail(t, s float64) float64 {
	if s >= t-1 {
		return 1
	}
	d := (t - 1 - s) / s
	return math.Exp(-s * d * d / 4)
}

// bisect returns the smallest value between low and high for which enough is true. enough must be true for high. Where
// it is true for a value, it must be true for all greater ones.
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
