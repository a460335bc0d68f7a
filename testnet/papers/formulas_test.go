package papers

import (
	"fmt"
	"math"

	"github.com/venn-p2p/venn/summary/bloom"
)

// What follows are formulas of the papers that no experiment prints. Tests hold them to the numbers that are printed, and
// what is measured to them.

// Delta is a standard filter that is meant to be sent in deltas, with what is expected of it.
type Delta struct {
	Params bloom.Params
	Bits   float64 // expected size of a delta
	Rate   float64 // expected false-positive rate
}

// DeltaForBits returns the standard filter with the lowest false-positive rate among those of at most maxBits bits
// whose expected delta fits the given bits. The delta follows the replacement of the part change (0 < change < 1) of
// the n keys (Mitzenmacher 2002, section IV).
func DeltaForBits(n int, bits, change float64, maxBits uint64) (Delta, error) {
	if n < 1 || !(bits > 0) || maxBits < 1 || !(change > 0 && change < 1) {
		return Delta{}, fmt.Errorf("papers: no delta of %v bits for %d keys, %v of them changed", bits, n, change)
	}
	keys, most := float64(n), float64(maxBits)/float64(n)
	var best Delta
	for k := 1; k <= int(math.Ceil(most*math.Ln2)); k++ {
		perKey := func(c float64) float64 { return DeltaBitsPerKey(c, float64(k), change) }
		c := longest(perKey, bits/keys, float64(k)/math.Ln2, most)
		m := uint64(c * keys)
		if m < 1 || k > int(math.Ceil(c*math.Ln2)) {
			continue
		}
		p := bloom.Params{Blocks: 1, BlockBits: m, Hashes: k}
		if rate := p.ExpectedRate(n); best.Bits == 0 || rate < best.Rate {
			best = Delta{p, perKey(float64(m)/keys) * keys, rate}
		}
	}
	if best.Bits == 0 {
		return best, fmt.Errorf("papers: %.0f bits are too few for a delta of %d keys", bits, n)
	}
	return best, nil
}

// longest is the greatest c up to most at which size(c) <= limit, 0 if there is none. From half full (c = half) on,
// size grows with c. A filter that may not be that long is denser than half, and taken as it is.
func longest(size func(c float64) float64, limit, half, most float64) float64 {
	if size(most) <= limit {
		return most
	}
	low, high := min(half, most), most
	if size(low) > limit {
		return 0
	}
	for range 200 {
		mid := low + float64((high-low)/2)
		if size(mid) <= limit {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// HashesPerBlock is k_b = max(1, ⌊m_b/n ln 2⌋) for blocks whose length a cache or a packet fixes (Papapetrou et al.
// 2010, section 3.2).
func HashesPerBlock(n int, blockBits uint64) int {
	return max(1, int(float64(blockBits)/float64(max(n, 1))*math.Ln2))
}

// CardinalityTheorem is the interval of Theorems 1 and 3 for a filter of t ones, with half of the error probability on
// either side.
func (a Array) CardinalityTheorem(t, confidence float64) Interval {
	tail := math.Log(2 / (1 - confidence))
	n := a.Elements(t)
	return Interval{n, min(n, max(0, a.Elements(fewerOnes(t, tail)))), max(n, a.Elements(moreOnes(t, tail)))}
}

// TheoremConfidence is the confidence with which, by Theorems 1 and 3, the cardinality lies between low and high when t
// ones were counted. It may be below zero.
func (a Array) TheoremConfidence(t, low, high float64) float64 {
	return 1 - lowTail(t, a.ExpectedOnes(low)) - highTail(t, a.ExpectedOnes(high))
}

// lowTail bounds the probability of at least t ones where only s < t-1 are expected.
func lowTail(t, s float64) float64 {
	if s >= t-1 {
		return 1
	}
	return math.Exp(t - 1 - s + float64((t-1)*math.Log(s/(t-1))))
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

// Floor is the part of the false-positive rate with n keys that no number of hash functions takes away.
func (s Scheme) Floor(p bloom.Params, n int) float64 {
	shared := 2.0
	if s == Triple {
		shared = 3
	}
	return -math.Expm1(float64(n) * math.Log1p(-math.Pow(float64(p.BlockBits), -shared)))
}

// ExpectedRate is the expected rate with n keys.
func (s Scheme) ExpectedRate(p bloom.Params, n int) float64 {
	f := p.ExpectedRate(n)
	return f + float64((1-f)*s.Floor(p, n))
}

// ExpectedRate returns the expected false-positive rate (1-(1-1/m)^(kn))^k with n different members. O(1).
func (c *CountingBloom) ExpectedRate(n int) float64 {
	k := float64(c.hashes)
	zero := math.Exp(k * float64(n) * math.Log1p(-1/float64(c.counters)))
	return math.Pow(1-zero, k)
}
