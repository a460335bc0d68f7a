package papers

import (
	"math"

	"github.com/venn-p2p/venn/testnet/papers/frequency"
)

// CountMinExceeds bounds the probability that an estimate of a count-min sketch is too high by more than eps times the
// sum of all counts. The bound is 2/(eps·w²) + (2/(eps·w))^d, to the power of the copies (Kirsch and Mitzenmacher 2008,
// Theorem 9.1).
func CountMinExceeds(p frequency.Params, eps float64) float64 {
	w := float64(p.Width)
	one := 2/(eps*w*w) + math.Pow(2/(eps*w), float64(p.Depth))
	return math.Pow(min(1, one), float64(max(1, p.Copies)))
}
