package bloom

import (
	"errors"
	"fmt"
	"math"
)

// maxBits is the greatest length of a filter: 2^36 bits, 8 GiB; on 32-bit machines less than 2^31 bits.
const maxBits = 1 << 36

// errParams begins the errors of all constructors.
var errParams = errors.New("bloom: parameter out of range")

// Errors matched by errors.Is.
var (
	// ErrMismatch: two filters differ in a parameter that must be equal.
	ErrMismatch = errors.New("bloom: filters do not match")
	// ErrMalformed: bytes are no filter, or were truncated or changed.
	ErrMalformed = errors.New("bloom: malformed")
)

// Params describe a filter. Two filters with equal Params have the same bit for the same key.
//
// A standard filter (Mitzenmacher 2002, section II.A) has one block. A block-partitioned filter (Papapetrou et al.
// 2010, section 3.2) has mu blocks, each a filter of its own.
type Params struct {
	Blocks    int    // mu, the number of blocks: 1 or more
	BlockBits uint64 // m_b, the number of bits of a block: 1 or more; Blocks*BlockBits is at most maxBits
	Hashes    int    // k_b, the number of hash functions of a block: 1 or more; Blocks*Hashes is at most maxHashes
	Hasher    Hasher // keys the hash; zero is valid and known to everybody
}

// Bits returns the length of the filter, m. O(1).
func (p Params) Bits() uint64 { return uint64(p.Blocks) * p.BlockBits }

// hashes returns the number of hash functions in all blocks, k.
func (p Params) hashes() int { return p.Blocks * p.Hashes }

// Check reports every parameter that is out of its range. O(1).
func (p Params) Check() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{errParams}, args...)...))
	}
	if p.Blocks < 1 || p.Blocks > maxHashes {
		fault("Blocks %d is not in 1…%d", p.Blocks, maxHashes)
	}
	if p.Hashes < 1 || p.Hashes > maxHashes {
		fault("Hashes %d is not in 1…%d", p.Hashes, maxHashes)
	}
	if p.BlockBits < 1 || p.BlockBits > maxBits {
		fault("BlockBits %d is not in 1…%d", p.BlockBits, uint64(maxBits))
	}
	if faults == nil && p.hashes() > maxHashes {
		fault("Blocks*Hashes is %d*%d, over %d", p.Blocks, p.Hashes, maxHashes)
	}
	if faults == nil && p.Bits() > min(maxBits, math.MaxInt) {
		fault("Blocks*BlockBits is %d*%d, over %d", p.Blocks, p.BlockBits, min(maxBits, math.MaxInt))
	}
	return errors.Join(faults...)
}

// ExpectedRate returns the expected false-positive rate of the filter with n keys in it, n >= 0: (1-(1-1/m_b)^(k_b
// n))^(k_b mu), equation (1) of Papapetrou et al. with k_b as in section 3.2. For a standard filter that is
// (1-(1-1/m)^(kn))^k. O(1).
func (p Params) ExpectedRate(n int) float64 {
	return math.Pow(fillExpected(p.BlockBits, float64(p.Hashes)*float64(n)), float64(p.hashes()))
}

// fillExpected returns the expected share of bits set among m after setting positions at random: 1-(1-1/m)^positions.
func fillExpected(m uint64, positions float64) float64 {
	if positions <= 0 {
		return 0
	}
	return -math.Expm1(positions * math.Log1p(-1/float64(m)))
}

// paramsForBits returns the parameters of the standard filter of the given number of bits with the least false-positive
// rate for n keys. The number of hash functions is the better of the two integers beside m/n ln 2 (Mitzenmacher,
// section II.A).
func paramsForBits(n int, bits uint64) (Params, error) {
	if err := checkSize(n, bits); err != nil {
		return Params{}, err
	}
	c := float64(bits) / float64(max(n, 1))
	return Params{Blocks: 1, BlockBits: bits, Hashes: bestHashes(c)}, nil
}

// paramsForRate returns the parameters of the shortest standard filter whose false-positive rate with n keys is at most
// rate (0 < rate < 1).
func paramsForRate(n int, rate float64) (Params, error) {
	return shortest(n, rate, func(k int) Params {
		return Params{Blocks: 1, BlockBits: bitsForFill(math.Pow(rate, 1/float64(k)), float64(k)*float64(n)), Hashes: k}
	})
}

// shortest returns the parameters with(k) that need fewer bits, of the two hash counts k around log2(1/rate).
func shortest(n int, rate float64, with func(k int) Params) (best Params, err error) {
	if err := checkRate(n, rate); err != nil {
		return Params{}, err
	}
	least := max(1, int(-math.Log2(rate)))
	for _, k := range []int{least, least + 1} {
		if p := with(k); k <= maxHashes && (best.Blocks == 0 || p.Bits() < best.Bits()) {
			best = p
		}
	}
	return best, best.reaches(n, rate)
}

// reaches returns nil if p is a valid filter, else an error in terms of the rate and n that were asked for.
func (p Params) reaches(n int, rate float64) error {
	if p.Check() == nil {
		return nil
	}
	return fmt.Errorf("%w: %d keys at rate %v need more than %d bits or %d hash functions", errParams, n, rate,
		min(maxBits, math.MaxInt), maxHashes)
}

// partitionedForBits returns the parameters of a block-partitioned filter of at most the given number of bits for n
// keys (Papapetrou et al., section 3.2). Blocks have one hash function and ⌈n/ln 2⌉ bits, half of them set with n keys.
// A shorter filter is one block.
func partitionedForBits(n int, bits uint64) (Params, error) {
	if err := checkSize(n, bits); err != nil {
		return Params{}, err
	}
	m := min(halfFull(n), bits)
	return Params{Blocks: int(min(bits/m, maxHashes)), BlockBits: m, Hashes: 1}, nil
}

// partitionedForRate returns the parameters of a block-partitioned filter with one hash function a block. It is the
// shortest whose false-positive rate with n keys is at most rate (0 < rate < 1).
func partitionedForRate(n int, rate float64) (Params, error) {
	return shortest(n, rate, func(mu int) Params {
		return Params{Blocks: mu, BlockBits: bitsForFill(math.Pow(rate, 1/float64(mu)), float64(n)), Hashes: 1}
	})
}

func checkSize(n int, bits uint64) error {
	if n < 0 {
		return fmt.Errorf("%w: n %d is below 0", errParams, n)
	}
	if bits < 1 || bits > maxBits {
		return fmt.Errorf("%w: bits %d is not in 1…%d", errParams, bits, uint64(maxBits))
	}
	return nil
}

func checkRate(n int, rate float64) error {
	if n < 0 {
		return fmt.Errorf("%w: n %d is below 0", errParams, n)
	}
	if !(rate > 0 && rate < 1) {
		return fmt.Errorf("%w: rate %v is not between 0 and 1", errParams, rate)
	}
	return nil
}

// bestHashes returns the integer k that makes the asymptotic rate least at c bits a key.
func bestHashes(c float64) int {
	k := max(1, min(int(c*math.Ln2), maxHashes-1))
	if asymptoticRate(c, float64(k+1)) < asymptoticRate(c, float64(k)) {
		k++
	}
	return k
}

// asymptoticRate returns the false-positive rate (1-e^(-k/c))^k of a standard filter as n grows (Mitzenmacher, section
// II.A). It has c = m/n bits a key and k hash functions. As in the figures of that paper, k need not be an integer.
func asymptoticRate(c, k float64) float64 { return math.Pow(-math.Expm1(-k/c), k) }

// halfFull returns the length ⌈n/ln 2⌉ of a block that is half full with n keys.
func halfFull(n int) uint64 { return uint64(math.Ceil(float64(max(n, 1)) / math.Ln2)) }

// bitsForFill returns the least number of bits with at most the share fill of them set, on average, by positions.
func bitsForFill(fill, positions float64) uint64 {
	if positions <= 0 {
		return 1
	}
	// 1-(1-1/m)^positions = fill, solved for m.
	m := -1 / math.Expm1(math.Log1p(-fill)/positions)
	if !(m < maxBits) {
		return maxBits + 1 // refused by Check
	}
	return max(1, uint64(math.Ceil(m)))
}
