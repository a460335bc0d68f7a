package bloom

import (
	"fmt"
	"math"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// entropy returns the binary entropy H(p) in bits, 0 <= p <= 1.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return (float64(-p*math.Log(p)) - float64((1-p)*math.Log1p(-p))) / math.Ln2
}

// CompressedBits returns the expected size in bits, m·H(p), of the compressed filter with n keys in it (Mitzenmacher,
// section II.B). A Codec adds some bytes. Real sizes vary by some bytes more; so plan with 0.99 of what fits (section
// III). O(1).
func (p Params) CompressedBits(n int) float64 {
	return float64(p.Bits()) * entropy(fillExpected(p.BlockBits, float64(p.Hashes)*float64(n)))
}

// CodedBytes predicts the bytes that a Codec takes for a filter with the given number of bits set, 0 to Bits, without
// the message's header. The result is the same on every machine. O(1).
func (p Params) CodedBytes(ones int) int { return bitcode.PredictedBytes(int(p.Bits()), ones) }

// compressedBitsPerKey returns the compressed size z/n = c·H(e^(-k/c)) of a standard filter as n grows. It has c = m/n
// bits a key and k hash functions. k need not be an integer.
func compressedBitsPerKey(c, k float64) float64 { return c * entropy(math.Exp(-k/c)) }

// compressed is a filter that is meant to be sent compressed, with its expected size and rate.
type compressed struct {
	params Params
	bits   float64 // expected size of the message, z, without the Codec's header
	rate   float64 // expected false-positive rate
}

// compressedForBits returns the parameters of the standard filter of at most maxBits bits with the lowest
// false-positive rate whose expected compressed size with n keys is at most the given bits (section II.B). The size is
// [Params.CompressedBits], for large n. The filter has few hash functions and a long array: k <= ⌈m/n ln 2⌉.
func compressedForBits(n int, bits float64, maxBits uint64) (Params, error) {
	if err := checkCompression(n, bits, maxBits); err != nil {
		return Params{}, err
	}
	return leastRate(n, bits, maxBits)
}

// compressedForRate returns the parameters of the standard filter of at most maxBits bits with the least expected
// compressed size whose false-positive rate with n keys is at most rate (section II.B).
func compressedForRate(n int, rate float64, maxBits uint64) (Params, error) {
	if err := checkCompression(n, 1, maxBits); err != nil {
		return Params{}, err
	}
	if err := checkRate(n, rate); err != nil {
		return Params{}, err
	}
	best := compressed{}
	for k := 1; k <= mostHashes(float64(maxBits)/float64(n)); k++ {
		m := bitsForFill(math.Pow(rate, 1/float64(k)), float64(k)*float64(n))
		c := float64(m) / float64(n)
		size := compressedBitsPerKey(c, float64(k)) * float64(n)
		if m <= maxBits && k <= mostHashes(c) && (best.bits == 0 || size < best.bits) {
			best = compression(n, m, k, size)
		}
	}
	if best.bits == 0 {
		return Params{}, fmt.Errorf("%w: maxBits %d is too few for %d keys at rate %v", errParams, maxBits, n, rate)
	}
	return best.params, nil
}

// leastRate tries each number of hash functions with the longest array of that compressed size. It returns the best.
func leastRate(n int, bits float64, maxBits uint64) (Params, error) {
	most := float64(maxBits) / float64(n)
	best := compressed{}
	for k := 1; k <= mostHashes(most); k++ {
		c := longest(func(c float64) float64 { return compressedBitsPerKey(c, float64(k)) }, bits/float64(n), float64(k)/math.Ln2, most)
		m := uint64(c * float64(n))
		if m < 1 || k > mostHashes(c) {
			continue
		}
		got := compression(n, m, k, compressedBitsPerKey(float64(m)/float64(n), float64(k))*float64(n))
		if best.bits == 0 || got.rate < best.rate {
			best = got
		}
	}
	if best.bits == 0 {
		return Params{}, fmt.Errorf("%w: bits %.0f are too few for %d keys", errParams, bits, n)
	}
	return best.params, nil
}

// longest returns the greatest c up to most at which size(c) <= limit, 0 if there is none. From half full (c = half)
// on, size grows with c. If most is below half, it tries most only.
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

// mostHashes returns ⌈c ln 2⌉: more hash functions only make a filter denser than half.
func mostHashes(c float64) int { return int(min(math.Ceil(c*math.Ln2), maxHashes)) }

func compression(n int, m uint64, k int, bits float64) compressed {
	p := Params{Blocks: 1, BlockBits: m, Hashes: k}
	return compressed{params: p, bits: bits, rate: p.ExpectedRate(n)}
}

func checkCompression(n int, bits float64, maxBits uint64) error {
	if n < 1 {
		return fmt.Errorf("%w: n %d is below 1", errParams, n)
	}
	if !(bits > 0) {
		return fmt.Errorf("%w: bits %v is not above 0", errParams, bits)
	}
	return checkSize(n, maxBits)
}
