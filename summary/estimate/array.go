package estimate

import (
	"fmt"
	"math"

	"github.com/venn-p2p/venn/summary/internal/variance"
)

// Array describes the filter whose bits were counted. A standard Bloom filter has one block and k hash functions.
type Array struct {
	Bits   uint64 // bits of one block (m, m_b); at least 2
	Blocks int    // number of blocks, which are counted together (λ); 0 means 1
	Hashes int    // hash functions of one block (k, k_b); 0 means 1
	Sample uint64 // bits counted of each block, any fixed ones; 0 means all
}

// valid returns an error that names the field that is out of its range.
func (a Array) valid() error {
	switch {
	case a.Bits < 2:
		return fmt.Errorf("estimate: Bits %d: %w, at least 2", a.Bits, errRange)
	case a.Blocks < 0:
		return fmt.Errorf("estimate: Blocks %d: %w, at least 0", a.Blocks, errRange)
	case a.Hashes < 0:
		return fmt.Errorf("estimate: Hashes %d: %w, at least 0", a.Hashes, errRange)
	case a.Sample > a.Bits:
		return fmt.Errorf("estimate: Sample %d: %w, 0 to Bits = %d", a.Sample, errRange, a.Bits)
	}
	return nil
}

func (a Array) checkCount(name string, t int) error {
	if t < 0 || float64(t) > a.counted() {
		return fmt.Errorf("estimate: %s %d: %w, 0 to %.0f bits", name, t, errRange, a.counted())
	}
	return nil
}

// expectedOnes returns the expected number of ones counted after n elements (Ŝ(n), Lemmas 1 and 4).
func (a Array) expectedOnes(n float64) float64 {
	return float64(-a.counted() * math.Expm1(n*a.perElement()))
}

// elements returns the number of elements for which t ones are expected (Ŝ⁻¹(t), equation 3 and Theorem 3). It returns
// +Inf if all bits are ones.
func (a Array) elements(t float64) float64 {
	if t >= a.counted() {
		return math.Inf(1)
	}
	return math.Log1p(-t/a.counted()) / a.perElement()
}

// perElement returns the logarithm of the probability that one element does not set a given bit.
func (a Array) perElement() float64 {
	return float64(max(a.Hashes, 1)) * math.Log1p(-1/float64(a.Bits))
}

// counted returns the number of bits that are counted, over all blocks.
func (a Array) counted() float64 {
	l := a.Sample
	if l == 0 {
		l = a.Bits
	}
	return float64(float64(l) * float64(max(a.Blocks, 1)))
}

// loadOf returns the load, in hits a bit, at which t ones are expected.
func (a Array) loadOf(t float64) float64 { return -math.Log1p(-t / a.counted()) }

// variances returns the array in the form from which variance.Array computes variances.
func (a Array) variances() variance.Array {
	return variance.Array{Bits: float64(a.Bits), Blocks: float64(max(a.Blocks, 1)), Hashes: float64(max(a.Hashes, 1)), Counted: a.counted()}
}
