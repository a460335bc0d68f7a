package papers

import (
	"fmt"
	"math"

	"github.com/venn-p2p/venn/summary/bloom"
)

// DynamicForBits searches the configuration of a dynamic filter whose batches hold the most keys (Papapetrou et al.
// 2010, section 4). A batch has at most the given number of bits, and a false-positive rate of at most rate, 0 <
// rate < 1. It has mu blocks of ⌊bits/mu⌋ bits, each with one hash function. The search begins at mu = 1 and ends
// once a larger mu holds fewer keys.
func DynamicForBits(bits uint64, rate float64) (bloom.DynamicParams, error) {
	const mostBlocks = 1024 // hash functions of a filter
	var best bloom.DynamicParams
	for mu := uint64(1); mu <= min(bits, mostBlocks) && rate > 0 && rate < 1; mu++ {
		batch := bloom.Params{Blocks: int(mu), BlockBits: bits / mu, Hashes: 1}
		n := capacity(batch, rate)
		if n < best.Threshold {
			break // the capacity is concave in mu
		}
		if n > best.Threshold {
			best = bloom.DynamicParams{Batch: batch, Threshold: n}
		}
	}
	if best.Threshold == 0 {
		return best, fmt.Errorf("papers: a batch of %d bits holds not one key at rate %v", bits, rate)
	}
	return best, nil
}

// capacity returns the greatest number of keys at which the rate of a filter with one hash function a block is at most
// rate.
func capacity(p bloom.Params, rate float64) int {
	perBlock := math.Pow(rate, 1/float64(p.Blocks))
	n := int(math.Log1p(-perBlock) / math.Log1p(-1/float64(p.BlockBits))) // (1-(1-1/m_b)^n) = perBlock
	for n > 0 && p.ExpectedRate(n) > rate {                               // rounding may be off by one
		n--
	}
	for p.ExpectedRate(n+1) <= rate {
		n++
	}
	return n
}
