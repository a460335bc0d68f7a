package bloom

import (
	"fmt"
	"math"
)

// Entropy is the binary entropy H(p) in bits, 0 <= p <= 1.
func Entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return (float64(-p*math.Log(p)) - float64((1-p)*math.Log1p(-p))) / math.Ln2
}

// CompressedBits is the expected size in bits, m·H(p), of the compressed filter with n keys in it (Mitzenmacher,
// section II.B). What a Codec adds is some bytes. Real sizes vary by some bytes more; so plan with 0.99 of what fits
// (section III).
func (p Params) CompressedBits(n int) float64 {
	return float64(p.Bits()) * Entropy(FillExpected(p.BlockBits, float64(p.Hashes)*float64(n)))
}

// CompressedBitsPerKey is the compressed size z/n = c·H(e^(-k/c)) of a standard filter with c = m/n bits a key and k
// hash functions, as n grows. k need not be an integer.
func CompressedBitsPerKey(c, k float64) float64 { return c * Entropy(math.Exp(-k/c)) }

// CompressedBase is β = f^(n/z), what one more transmitted bit a key multiplies the false-positive rate by, in a filter
// whose bits are 0 with probability p (equation (2)): 0.6185 at p = 1/2, the plain filter, where it is worst; 1/2 as p
// nears 1.
func CompressedBase(p float64) float64 {
	return math.Exp(-math.Log(p) * math.Log1p(-p) / Entropy(p))
}

// deltaFill is the part q = 2p(1-p^change) of the bits of a standard filter that differ after the part change of its
// keys was replaced by others; c = m/n, p = e^(-k/c) (section IV).
func deltaFill(c, k, change float64) float64 {
	return 2 * math.Exp(-k/c) * -math.Expm1(-change*k/c)
}

// DeltaBitsPerKey is the size z/n = c·H(q) of a coded delta, q = deltaFill (section IV).
func DeltaBitsPerKey(c, k, change float64) float64 { return c * Entropy(deltaFill(c, k, change)) }

// Compression is a filter that is meant to be sent compressed, with what is expected of it.
type Compression struct {
	Params Params
	Bits   float64 // expected size of the message, z, without the Codec's header
	Rate   float64 // expected false-positive rate
}

// CompressedForBits returns the standard filter with the lowest false-positive rate among those of at most maxBits bits
// that n keys compress to an expected size of at most the given bits (section II.B). It takes few hash functions and a
// long array: k <= ⌈m/n ln 2⌉.
func CompressedForBits(n int, bits float64, maxBits uint64) (Compression, error) {
	if err := checkCompression(n, bits, maxBits); err != nil {
		return Compression{}, err
	}
	return leastRate(n, bits, maxBits, CompressedBitsPerKey)
}

// DeltaForBits returns the standard filter with the lowest false-positive rate among those of at most maxBits bits
// whose delta has an expected size of at most the given bits after the part change (0 < change < 1) of the n keys was
// replaced (section IV). Compression.Bits is the size of a delta.
func DeltaForBits(n int, bits, change float64, maxBits uint64) (Compression, error) {
	if err := checkCompression(n, bits, maxBits); err != nil {
		return Compression{}, err
	}
	if !(change > 0 && change < 1) {
		return Compression{}, fmt.Errorf("%w: change %v is not between 0 and 1", ErrParams, change)
	}
	return leastRate(n, bits, maxBits, func(c, k float64) float64 { return DeltaBitsPerKey(c, k, change) })
}

// CompressedForRate returns the standard filter with the smallest expected compressed size among those of at most
// maxBits bits that have a false-positive rate of at most rate with n keys (section II.B): z for a given f.
func CompressedForRate(n int, rate float64, maxBits uint64) (Compression, error) {
	if err := checkCompression(n, 1, maxBits); err != nil {
		return Compression{}, err
	}
	if err := checkRate(n, rate); err != nil {
		return Compression{}, err
	}
	best := Compression{}
	for k := 1; k <= mostHashes(float64(maxBits)/float64(n)); k++ {
		m := bitsForFill(math.Pow(rate, 1/float64(k)), float64(k)*float64(n))
		c := float64(m) / float64(n)
		size := CompressedBitsPerKey(c, float64(k)) * float64(n)
		if m <= maxBits && k <= mostHashes(c) && (best.Bits == 0 || size < best.Bits) {
			best = compression(n, m, k, size)
		}
	}
	if best.Bits == 0 {
		return best, fmt.Errorf("%w: maxBits %d is too few for %d keys at rate %v", ErrParams, maxBits, n, rate)
	}
	return best, nil
}

// leastRate tries every number of hash functions, each with the longest array that keeps to the size.
func leastRate(n int, bits float64, maxBits uint64, perKey func(c, k float64) float64) (Compression, error) {
	most := float64(maxBits) / float64(n)
	best := Compression{}
	for k := 1; k <= mostHashes(most); k++ {
		c := longest(func(c float64) float64 { return perKey(c, float64(k)) }, bits/float64(n), float64(k)/math.Ln2, most)
		m := uint64(c * float64(n))
		if m < 1 || k > mostHashes(c) {
			continue
		}
		got := compression(n, m, k, perKey(float64(m)/float64(n), float64(k))*float64(n))
		if best.Bits == 0 || got.Rate < best.Rate {
			best = got
		}
	}
	if best.Bits == 0 {
		return best, fmt.Errorf("%w: bits %.0f are too few for %d keys", ErrParams, bits, n)
	}
	return best, nil
}

// longest is the greatest c up to most at which size(c) <= limit, 0 if there is none. From half full (c = half) on,
// size grows with c; a filter that may not even be so long is denser than half, and taken as it is.
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

// mostHashes is ⌈c ln 2⌉: more hash functions than that only make a filter denser than half.
func mostHashes(c float64) int { return int(min(math.Ceil(c*math.Ln2), MaxHashes)) }

func compression(n int, m uint64, k int, bits float64) Compression {
	p := Params{Blocks: 1, BlockBits: m, Hashes: k}
	return Compression{Params: p, Bits: bits, Rate: p.FalsePositiveRate(n)}
}

func checkCompression(n int, bits float64, maxBits uint64) error {
	if n < 1 {
		return fmt.Errorf("%w: n %d is below 1", ErrParams, n)
	}
	if !(bits > 0) {
		return fmt.Errorf("%w: bits %v is not above 0", ErrParams, bits)
	}
	return checkSize(n, maxBits)
}
