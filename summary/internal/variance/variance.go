// Package variance computes the variances of estimates from counted bits, by the delta method. They follow
// Papapetrou, Siberski and Nejdl 2010, section 5. All are pure functions of loads.
package variance

import "math"

// Array describes the filter whose bits were counted.
type Array struct {
	Bits, Blocks, Hashes float64 // bits of one block (m), number of blocks, hash functions of one block (k)
	Counted              float64 // bits counted, over all blocks
}

// Loads are the mean numbers of times that a bit is hit by the elements of each of two sets, and by their common
// elements.
type Loads struct{ First, Second, Both float64 }

// Either returns the load of the union.
func (x Loads) Either() float64 { return x.First + x.Second - x.Both }

// Load returns k n/m, the load that n elements cause.
func (a Array) Load(n float64) float64 { return a.Hashes * n / a.Bits }

// Covariance returns the covariance of the estimates of two cardinalities, where x is the load of the elements that
// both sets have. With x as the load of one set, it is the variance of that set's estimate. If all bits are counted,
// it is m/(k² blocks) (e^x-1-x).
func (a Array) Covariance(x float64) float64 {
	part := a.Bits * a.Blocks / a.Counted
	return a.Bits / (a.Hashes * a.Hashes * a.Blocks) * (float64(part*math.Expm1(x)) - x)
}

// Intersection returns the variance of the estimate of an intersection, if only counts are known.
func (a Array) Intersection(x Loads) float64 {
	return a.Covariance(x.Either()) - a.Covariance(x.First) - a.Covariance(x.Second) + 2*a.Covariance(x.Both)
}

// Control is for an intersection of two sets of known sizes. It regresses the error of the union's estimate on the
// errors of the sets' estimates. b1 and b2 are the fractions of these two errors to subtract from the union's
// estimate. variance is what is left: the variance of the intersection's estimate. It is +Inf from loads of some
// hundred hits a bit on.
func (a Array) Control(x Loads) (b1, b2, variance float64) {
	g1, g2, g12, gu := a.Covariance(x.First), a.Covariance(x.Second), a.Covariance(x.Both), a.Covariance(x.Either())
	if math.IsInf(gu, 1) || math.IsInf(g1*g2, 1) { // at such loads every bit counted is a one
		return 0.5, 0.5, math.Inf(1)
	}
	det := float64(g1*g2) - float64(g12*g12)
	if det <= 1e-12*g1*g2 { // the same set twice: the estimate of one says all
		return 0.5, 0.5, max(gu-float64((g1+g2)/2), 0)
	}
	b1 = (float64(g1*g2) - float64(g12*g2)) / det
	b2 = (float64(g1*g2) - float64(g12*g1)) / det
	return b1, b2, max(gu-float64(g1*b1)-float64(g2*b2), 0)
}
