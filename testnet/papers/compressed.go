package papers

import (
	"math"
)

// Entropy returns the binary entropy H(p) in bits, 0 <= p <= 1.
func Entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return (float64(-p*math.Log(p)) - float64((1-p)*math.Log1p(-p))) / math.Ln2
}

// AsymptoticRate returns the limit as n grows of the false-positive rate of a standard filter, (1-e^(-k/c))^k
// (Mitzenmacher 2002, section II.A). c = m/n is the number of bits a key, k that of hash functions. k need not be an
// integer, as in the figures of that paper.
func AsymptoticRate(c, k float64) float64 { return math.Pow(-math.Expm1(-k/c), k) }

// CompressedBitsPerKey returns the compressed size z/n = c·H(e^(-k/c)) of a standard filter with c = m/n bits a key and
// k hash functions, as n grows. k need not be an integer.
func CompressedBitsPerKey(c, k float64) float64 { return c * Entropy(math.Exp(-k/c)) }

// CompressedBase returns β = f^(n/z), the factor by which one more transmitted bit a key multiplies the
// false-positive rate (Mitzenmacher 2002, equation 2). p is the probability that a bit is 0. β is largest, and so
// worst, at p = 1/2, the plain filter: 0.6185. It nears 1/2 as p nears 1.
func CompressedBase(p float64) float64 {
	return math.Exp(-math.Log(p) * math.Log1p(-p) / Entropy(p))
}

// DeltaFill returns the share q = 2p(1-p^change) of a standard filter's bits that differ after a share change of its
// keys was replaced. Here c = m/n and p = e^(-k/c) (Mitzenmacher 2002, section IV).
func DeltaFill(c, k, change float64) float64 {
	return 2 * math.Exp(-k/c) * -math.Expm1(-change*k/c)
}

// DeltaBitsPerKey returns the size z/n = c·H(q), in bits a key, of a coded delta with q = DeltaFill (Mitzenmacher
// 2002, section IV).
func DeltaBitsPerKey(c, k, change float64) float64 { return c * Entropy(DeltaFill(c, k, change)) }
