package bloom

import (
	"errors"
	"fmt"
	"math"
)

// maxThreshold is the greatest number of keys a batch of a dynamic filter may be frozen at.
const maxThreshold = 1 << 40

// DynamicParams describe a dynamic block-partitioned filter.
type DynamicParams struct {
	Batch     Params // of every batch
	Threshold int    // n_thres, the number of keys after which a batch is frozen: 1 to 2^40
}

// check reports every parameter that is out of its range.
func (p DynamicParams) check() error {
	err := p.Batch.Check()
	if p.Threshold < 1 || int64(p.Threshold) > maxThreshold {
		err = errors.Join(err, fmt.Errorf("%w: Threshold %d is not in 1…%d", errParams, p.Threshold, uint64(maxThreshold)))
	}
	return err
}

// batches is the number of batches λ = ⌈n/n_thres⌉ that n keys take, at least 1.
func (p DynamicParams) batches(n int) int { return max(1, (n-1)/p.Threshold+1) }

// FalsePositiveRate is the expected false-positive rate with n keys: equation (2) of Papapetrou et al. It grows about
// linearly with the number of batches. O(1).
func (p DynamicParams) FalsePositiveRate(n int) float64 {
	frozen := p.batches(n) - 1
	last := p.Batch.FalsePositiveRate(n - frozen*p.Threshold)
	// 1-(1-last)(1-full)^frozen, also where the rates are tiny.
	return -math.Expm1(math.Log1p(-last) + float64(float64(frozen)*math.Log1p(-p.Batch.FalsePositiveRate(p.Threshold))))
}

// DynamicForBits searches the configuration (section 4) whose batches hold the most keys. A batch has at most the given
// number of bits, and a false-positive rate of at most rate, 0 < rate < 1. Blocks have ⌊bits/mu⌋ bits and one hash
// function. Starting at one block it adds blocks for as long as that helps.
//
// With divisorsOnly it looks only at numbers of blocks that divide bits, so that no bit is left over. An error names
// the number out of its range. It takes microseconds.
func DynamicForBits(bits uint64, rate float64, divisorsOnly bool) (DynamicParams, error) {
	if err := checkSize(0, bits); err != nil {
		return DynamicParams{}, err
	}
	if err := checkRate(0, rate); err != nil {
		return DynamicParams{}, err
	}
	var best DynamicParams
	for mu := uint64(1); mu <= min(bits, maxHashes); mu++ {
		if divisorsOnly && bits%mu != 0 {
			continue
		}
		batch := Params{Blocks: int(mu), BlockBits: bits / mu, Hashes: 1}
		n := batch.capacity(rate)
		if n < best.Threshold {
			break // the capacity is concave in mu
		}
		if n > best.Threshold {
			best = DynamicParams{Batch: batch, Threshold: n}
		}
	}
	if best.Threshold == 0 {
		return best, fmt.Errorf("%w: %d bits hold not one key at rate %v", errParams, bits, rate)
	}
	return best, nil
}

// capacity is the greatest number of keys at which the rate of a filter with one hash function a block is at most rate.
func (p Params) capacity(rate float64) int {
	perBlock := math.Pow(rate, 1/float64(p.Blocks))
	most := math.Log1p(-perBlock) / math.Log1p(-1/float64(p.BlockBits)) // (1-(1-1/m_b)^n) = perBlock
	n := int(min(most, min(maxThreshold, math.MaxInt)-1))
	for n > 0 && p.FalsePositiveRate(n) > rate { // rounding may be off by one
		n--
	}
	for int64(n) < min(maxThreshold, math.MaxInt)-1 && p.FalsePositiveRate(n+1) <= rate {
		n++
	}
	return n
}
