package papers

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// CountMinParams is the form of a count-min sketch with two hash functions (Kirsch and Mitzenmacher 2008, section 9).
type CountMinParams struct {
	Width  int // w: counters in a row, a prime
	Depth  int // d: rows, at most w
	Copies int // independent sets of rows, each with two hash functions; a CountMin is one such set
}

// CountMinFor returns the parameters with which an estimate is too high by more than eps times the sum of all counts
// with probability at most delta (Theorem 9.1). w is the least prime >= 2e/eps, and d = ln(1/(eps(1-1/2e²))) rounded
// up. One copy reaches probability eps; ln(1/delta)/ln(1/eps) copies, rounded up, reach delta.
func CountMinFor(eps, delta float64) CountMinParams {
	w := int(math.Ceil(2 * math.E / eps))
	for !isPrime(w) {
		w++
	}
	return CountMinParams{
		Width: w, Depth: int(math.Ceil(math.Log(1 / (eps * (1 - 1/(2*math.E*math.E)))))),
		// -1e-9: against rounding, where delta is a power of eps
		Copies: int(math.Ceil(math.Log(1/delta)/math.Log(1/eps) - 1e-9)),
	}
}

// CountMinExceeds bounds the probability that an estimate of a count-min sketch is too high by more than eps times the
// sum of all counts. The bound is 2/(eps·w²) + (2/(eps·w))^d, to the power of the copies (Theorem 9.1).
func CountMinExceeds(p CountMinParams, eps float64) float64 {
	w := float64(p.Width)
	one := 2/(eps*w*w) + math.Pow(2/(eps*w), float64(p.Depth))
	return math.Pow(min(1, one), float64(p.Copies))
}

// CountMin counts hashed keys. Its two hash functions are of the pairwise independent family (a·x+b mod 2⁶¹-1) mod
// w.
type CountMin struct {
	p              CountMinParams
	a1, b1, a2, b2 uint64
	counts         []uint32
	Total          uint64 // sum of all counts
}

const mersenne = 1<<61 - 1

// NewCountMin returns an empty sketch whose hash functions follow from a seed.
func NewCountMin(p CountMinParams, seed uint64) *CountMin {
	const stream = 0x636f756e74 // keeps the draws apart from other uses of the same seed
	rng := rand.New(rand.NewPCG(seed, stream))
	draw := func() uint64 { return rng.Uint64N(mersenne) }
	return &CountMin{p: p, a1: draw(), b1: draw(), a2: draw(), b2: draw(), counts: make([]uint32, p.Width*p.Depth)}
}

// Add counts a key n more times.
func (s *CountMin) Add(key uint64, n uint32) {
	s.Total += uint64(n)
	s.each(key, func(c *uint32) { *c += n })
}

// Estimate returns an estimate of the count of a key, which is never too low.
func (s *CountMin) Estimate(key uint64) uint32 {
	least := uint32(math.MaxUint32)
	s.each(key, func(c *uint32) { least = min(least, *c) })
	return least
}

// each visits the counters of a key: g_j = h1 + j·h2 mod w in row j.
func (s *CountMin) each(key uint64, visit func(*uint32)) {
	w, x := uint64(s.p.Width), key&mersenne+key>>61
	g, step := affine(s.a1, s.b1, x)%w, affine(s.a2, s.b2, x)%w
	for row := range s.p.Depth {
		visit(&s.counts[row*s.p.Width+int(g)])
		g = (g + step) % w
	}
}

// affine returns a·x+b mod 2⁶¹-1 for a, b below it and x < 2⁶¹+7.
func affine(a, b, x uint64) uint64 {
	high, low := bits.Mul64(a, x)
	return (low&mersenne + (low>>61 | high<<3) + b) % mersenne // the sum is below 3·2⁶¹+8
}

func isPrime(n int) bool {
	for i := 2; i*i <= n; i++ {
		if n%i == 0 {
			return false
		}
	}
	return n >= 2
}
