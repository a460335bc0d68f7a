package bloom

import (
	"fmt"
	"math/bits"
)

// Scheme says how the hash of a key becomes one position for every hash function of a filter. Hash functions are
// numbered through all blocks: number i = block*Hashes + (hash within the block). m_b is the number of bits of a block.
//
// A scheme that derives all positions from few numbers below m_b makes whole keys collide: the false-positive rate of a
// filter of n keys cannot fall below its floor (Params.Floor), however many hash functions there are. In a standard
// filter, where m_b = m is large, that is seldom felt (Kirsch and Mitzenmacher 2008, section 8); in a block-partitioned
// filter, where m_b is about n/ln 2, it is about 1/(2n).
//
// The partition scheme of Kirsch and Mitzenmacher (section 5.1) is Double with one hash function in each of k blocks.
type Scheme uint8

const (
	// Independent is the default: hash function i is the multiply-shift x_i = a_i*A + B mod 2^64 of the 128-bit hash
	// (A, B), a_i a fixed odd number, and its position the top of x_i: floor(x_i*m_b/2^64). No floor: any two
	// keys differ in 128 bits, not in 2*log2(m_b). Costs two multiplications each.
	Independent Scheme = iota
	// Double is double hashing: h1 + i*h2 mod m_b. Floor n/m_b². (Making h2 odd, as some do where m_b is a power
	// of two, would double the floor.)
	Double
	// EnhancedSquare is enhanced double hashing with f(i) = i²: h1 + i*h2 + i² mod m_b. Floor n/m_b²: the term is the
	// same for all keys, so it does not help in a partitioned filter; in a standard one it breaks up shifted
	// progressions.
	EnhancedSquare
	// EnhancedCube is enhanced double hashing with f(i) = i³: h1 + i*h2 + i³ mod m_b. Floor n/m_b².
	EnhancedCube
	// Triple is triple hashing: h1 + i*h2 + i(i-1)/2*h3 mod m_b. Floor n/m_b³.
	Triple

	schemes // how many there are
)

var schemeNames = [schemes]string{"independent", "double", "enhanced-square", "enhanced-cube", "triple"}

// String is the scheme's name: independent, double, enhanced-square, enhanced-cube or triple.
func (s Scheme) String() string {
	if s < schemes {
		return schemeNames[s]
	}
	return fmt.Sprintf("scheme(%d)", uint8(s))
}

// ParseScheme returns the scheme of that name.
func ParseScheme(name string) (Scheme, error) {
	for s, n := range schemeNames {
		if n == name {
			return Scheme(s), nil
		}
	}
	return 0, fmt.Errorf("%w: scheme %q is not one of %q", ErrParams, name, schemeNames)
}

// independentNumbers is how many numbers below m_b two keys must share to collide in every hash function; 0 stands for
// many.
func (s Scheme) independentNumbers() int {
	switch s {
	case Independent:
		return 0
	case Triple:
		return 3
	default:
		return 2
	}
}

// MaxHashes is the greatest number of hash functions a filter may have in all of its blocks.
const MaxHashes = 1024

// multipliers are the a_i of the independent scheme: odd numbers from splitmix64 (Steele, Lea, Flood 2014), seed 1.
var multipliers = func() (a [MaxHashes]uint64) {
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

// probe is one hash function of the independent scheme: its multiplier, and where its block begins.
type probe struct{ mul, base uint64 }

// at is the position, among all bits of the filter, of a hash in blocks of m bits.
func (p probe) at(h Hash, m uint64) uint64 {
	hi, _ := bits.Mul64(p.mul*h.A+h.B, m)
	return p.base + hi
}

// progression yields the positions of the schemes with arithmetic modulo m, one after the other, by finite differences.
type progression struct {
	scheme  Scheme
	i       uint64 // number of the next hash function
	m       uint64
	x, y, z uint64 // position, first and second difference, all below m
}

func newProgression(s Scheme, h Hash, m uint64) progression {
	p := progression{scheme: s, m: m, x: h.A % m, y: h.B % m}
	if s == Triple {
		p.z = mix64(h.A^bits.RotateLeft64(h.B, 32)) % m
	}
	return p
}

// next returns the position within the block of the next hash function.
func (p *progression) next() uint64 {
	at, i := p.x, p.i
	p.i++
	switch p.scheme {
	case EnhancedSquare: // (i+1)² - i²
		p.x += (2*i + 1) % p.m
	case EnhancedCube: // (i+1)³ - i³
		p.x += (3*i*i + 3*i + 1) % p.m
	}
	p.x = (p.x + p.y) % p.m
	p.y = (p.y + p.z) % p.m
	return at
}
