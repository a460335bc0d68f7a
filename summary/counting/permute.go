package counting

import "math/rand/v2"

// permutation is a permutation of [0, 2^q): multiplication by an odd number (section 3.3). The high bits of the
// product select the bucket.
type permutation struct {
	multiplier, inverse uint64 // inverse of each other modulo 2^64, hence modulo every 2^q
}

// newPermutations draws one permutation for each subtable from the seed.
func newPermutations(p Params) []permutation {
	const stream = 0x646c65667420 // keeps the draws apart from other uses of the same seed
	rng := rand.New(rand.NewPCG(p.Seed, stream))
	perms := make([]permutation, p.Subtables)
	for i := range perms {
		a := rng.Uint64() | 1
		perms[i] = permutation{multiplier: a, inverse: inverse(a)}
	}
	return perms
}

// inverse returns the inverse of an odd number modulo 2^64, by Newton's iteration. At first 3 bits are right, and each
// step doubles their number.
func inverse(a uint64) uint64 {
	x := a
	for range 5 {
		x *= 2 - a*x
	}
	return x
}
