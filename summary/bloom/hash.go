package bloom

import "math/bits"

// maxHashes is the greatest number of hash functions a filter may have in all of its blocks.
const maxHashes = 1024

// Hash function i is the multiply-shift x_i = a_i*A + B mod 2^64 of the 128-bit hash (A, B), a_i a fixed odd number.
// Its position is the top of x_i: floor(x_i*m_b/2^64). Hash functions are numbered through all blocks. Each costs two
// multiplications. Double hashing and its variants cost less, but have a floor under the false-positive rate, of
// n/m_b², which partitioned filters would reach (Kirsch and Mitzenmacher 2008, section 8).

// multipliers are the a_i: odd numbers from splitmix64 (Steele, Lea, Flood 2014), seed 1.
var multipliers = func() (a [maxHashes]uint64) {
	x := uint64(1)
	for i := range a {
		x += 0x9e3779b97f4a7c15
		a[i] = mix64(x) | 1
	}
	return a
}()

func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// probe is one hash function: its multiplier, and the first bit of its block.
type probe struct{ mul, base uint64 }

// at returns the position, among all bits of the filter, of a hash in blocks of m bits.
func (p probe) at(h Hash, m uint64) uint64 {
	hi, _ := bits.Mul64(p.mul*h.A+h.B, m)
	return p.base + hi
}
