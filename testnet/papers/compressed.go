package papers

import (
	"fmt"
	"math"

	"github.com/venn-p2p/venn/summary/bloom"
)

// Entropy is the binary entropy H(p) in bits, 0 <= p <= 1.
func Entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return (float64(-p*math.Log(p)) - float64((1-p)*math.Log1p(-p))) / math.Ln2
}

// AsymptoticRate is the limit as n grows of the false-positive rate of a standard filter, (1-e^(-k/c))^k (Mitzenmacher
// 2002, section II.A). c = m/n is the number of bits a key, k that of hash functions. k need not be an integer, as in
// the figures of that paper.
func AsymptoticRate(c, k float64) float64 { return math.Pow(-math.Expm1(-k/c), k) }

// CompressedBitsPerKey is the compressed size z/n = c·H(e^(-k/c)) of a standard filter with c = m/n bits a key and k
// hash functions, as n grows. k need not be an integer.
func CompressedBitsPerKey(c, k float64) float64 { return c * Entropy(math.Exp(-k/c)) }

// CompressedBase is β = f^(n/z), the factor by which one more transmitted bit a key multiplies the false-positive rate
// (Mitzenmacher 2002, equation 2). p is the probability that a bit is 0. It is 0.6185 at p = 1/2, the plain filter,
// where it is worst, and 1/2 as p nears 1.
func CompressedBase(p float64) float64 {
	return math.Exp(-math.Log(p) * math.Log1p(-p) / Entropy(p))
}

// DeltaFill is the part q = 2p(1-p^change) of the bits of a standard filter that differ after the part change of its
// keys was replaced. Here c = m/n and p = e^(-k/c) (Mitzenmacher 2002, section IV).
func DeltaFill(c, k, change float64) float64 {
	return 2 * math.Exp(-k/c) * -math.Expm1(-change*k/c)
}

// DeltaBitsPerKey is the size z/n = c·H(q) of a coded delta, q = DeltaFill (Mitzenmacher 2002, section IV).
func DeltaBitsPerKey(c, k, change float64) float64 { return c * Entropy(DeltaFill(c, k, change)) }

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
