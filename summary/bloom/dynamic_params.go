package bloom

import (
	"errors"
	"fmt"
	"math"
)

// maxThreshold is the largest Threshold of a dynamic filter, in keys.
const maxThreshold = 1 << 40

// DynamicParams describe a dynamic block-partitioned filter.
type DynamicParams struct {
	Batch     Params // parameters of every batch
	Threshold int    // n_thres, the number of keys after which a batch is frozen: 1 to 2^40
	Window    int    // batches kept: when one more begins, the oldest is forgotten; 0 keeps all; not part of the binary form
}

// check reports every parameter that is out of its range.
func (p DynamicParams) check() error {
	err := p.Batch.Check()
	if p.Threshold < 1 || int64(p.Threshold) > maxThreshold {
		err = errors.Join(err, fmt.Errorf("%w: Threshold %d is not in 1…%d", errParams, p.Threshold, uint64(maxThreshold)))
	}
	if p.Window < 0 {
		err = errors.Join(err, fmt.Errorf("%w: Window %d is below 0", errParams, p.Window))
	}
	return err
}

// batches returns the number of batches λ = ⌈n/n_thres⌉ that n keys take, at least 1.
func (p DynamicParams) batches(n int) int { return max(1, (n-1)/p.Threshold+1) }

// ExpectedRate returns the expected false-positive rate with n keys, none of them forgotten. It is equation (2) of
// Papapetrou et al., and grows about linearly with the number of batches. O(1).
func (p DynamicParams) ExpectedRate(n int) float64 {
	frozen := p.batches(n) - 1
	last := p.Batch.ExpectedRate(n - frozen*p.Threshold)
	// 1-(1-last)(1-full)^frozen, also where the rates are tiny.
	return -math.Expm1(math.Log1p(-last) + float64(float64(frozen)*math.Log1p(-p.Batch.ExpectedRate(p.Threshold))))
}
