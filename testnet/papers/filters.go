package papers

import (
	"math"

	"github.com/venn-p2p/venn/summary/bloom"
)

// DynamicRateBound returns an upper bound of the false-positive rate of a dynamic filter with n keys: λ(1-e^(-k_b
// n_thres/m_b))^(k_b mu). It is the sum of the rates of λ full batches (Papapetrou et al. 2010, section 4). Like the
// paper, it replaces (1-1/m_b)^x by e^(-x/m_b). So for one batch that is just full, the bound is below the expected
// rate by about one part in m_b.
func DynamicRateBound(p bloom.DynamicParams, n int) float64 {
	b := p.Batch
	block := AsymptoticRate(float64(b.BlockBits)/float64(p.Threshold), float64(b.Hashes))
	return float64(max(1, (n-1)/p.Threshold+1)) * math.Pow(block, float64(b.Blocks))
}
