// Package frequency estimates how often each of many keys has been seen, in little memory. It has a count-min sketch
// (Cormode and Muthukrishnan) that needs two hash functions only. See section 9 of Kirsch and Mitzenmacher, "Less
// Hashing, Same Performance: Building a Better Bloom Filter" (2008).
//
// An estimate is never too low. It is too high by more than ε times the sum of all counts with probability at most δ,
// over the choice of hash functions. So an estimate of a rare key among many frequent ones means little. A limit that
// acts on estimates can hit an innocent key with probability δ. Who knows the seed can choose keys that collide with
// another.
//
// Keys are fingerprints: already hashed by the caller to a uint64. Memory is 4 bytes for each of width · depth · copies
// counters; adding and estimating touch depth · copies of them and allocate nothing. A Sketch is not safe for
// concurrent use.
package frequency

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Bounds of Params.
const (
	maxWidth    = 1 << 28
	maxDepth    = 64
	maxCopies   = 64
	maxCounters = 1 << 30
)

// errParams begins every error about parameters out of range.
var errParams = errors.New("frequency: bad parameters")

// Params is the form of a Sketch. ParamsForError chooses one.
type Params struct {
	Width  int    // w: counters in a row; a prime up to 2^28
	Depth  int    // d: rows that share two hash functions, 1 to 64, at most w
	Copies int    // independent sets of rows, each with its own two hash functions: 1 to 64; 0 means 1
	Seed   uint64 // draws the hash functions
}

// ParamsForError returns parameters for an error. With probability at most delta, an estimate is too high by more than
// eps times the sum of all counts. Both are between 0 and 1 (exclusive). Theorem 9.1: w is the least prime >= 2e/eps,
// and d = ln(1/(eps(1-1/2e²))) rounded up. With these the probability is at most eps; ln(1/delta)/ln(1/eps) copies,
// rounded up, bring it to delta. An error names the number out of range. It takes microseconds.
func ParamsForError(eps, delta float64) (Params, error) {
	if !(eps > 0 && eps < 1) {
		return Params{}, fmt.Errorf("%w: eps is %v, want between 0 and 1", errParams, eps)
	}
	if !(delta > 0 && delta < 1) {
		return Params{}, fmt.Errorf("%w: delta is %v, want between 0 and 1", errParams, delta)
	}
	if 2*math.E/eps > maxWidth/2 {
		return Params{}, fmt.Errorf("%w: eps is %v, want at least %.3g", errParams, eps, 4*math.E/maxWidth)
	}
	p := Params{
		Width:  nextPrime(int(math.Ceil(2 * math.E / eps))),
		Depth:  max(1, int(math.Ceil(math.Log(1/(eps*(1-1/(2*math.E*math.E))))))),
		Copies: max(1, int(math.Ceil(math.Log(1/delta)/math.Log(1/eps)-1e-9))), // 1e-9: for delta a power of eps
	}
	return p, p.check()
}

func (p Params) check() error {
	var faults []error
	within := func(name string, v, low, high int) {
		if v < low || v > high {
			faults = append(faults, fmt.Errorf("%w: %s is %d, want %d to %d", errParams, name, v, low, high))
		}
	}
	within("Width", p.Width, 2, maxWidth)
	within("Depth", p.Depth, 1, maxDepth)
	within("Copies", p.Copies, 1, maxCopies)
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	if !isPrime(p.Width) {
		faults = append(faults, fmt.Errorf("%w: Width is %d, want a prime", errParams, p.Width))
	}
	if p.Depth > p.Width { // beyond it rows repeat
		faults = append(faults, fmt.Errorf("%w: Depth is %d, want at most Width, %d", errParams, p.Depth, p.Width))
	}
	const most = min(maxCounters, math.MaxInt/4) // four bytes each
	if n := int64(p.Width) * int64(p.Depth) * int64(p.Copies); n > most {
		faults = append(faults, fmt.Errorf("%w: %d counters, want at most %d", errParams, n, int64(most)))
	}
	return errors.Join(faults...)
}

// Sketch is a count-min sketch with two hash functions a copy. Make one with New.
type Sketch struct {
	p      Params
	hashes []pair // one a copy
	counts []uint32
	total  uint64
}

// New returns an empty sketch, or an error that names the parameters at fault. O(counters).
func New(p Params) (*Sketch, error) {
	if p.Copies == 0 {
		p.Copies = 1
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return &Sketch{p: p, hashes: newPairs(p), counts: make([]uint32, p.Width*p.Depth*p.Copies)}, nil
}

// Total returns the sum of all counts added (the norm that the error is measured by). O(1).
func (s *Sketch) Total() uint64 { return s.total }

// Add counts key n more times. Counters end at 2³²-1 and stay there. O(depth · copies).
func (s *Sketch) Add(key uint64, n uint32) {
	s.total += uint64(n)
	s.each(key, func(c *uint32) { *c = addSaturated(*c, n) })
}

// Estimate returns an estimate of the count of key. It is never less than the count (up to 2³²-1). It is more than
// eps·Total too high with at most the probability that ParamsForError was given. O(depth · copies).
func (s *Sketch) Estimate(key uint64) uint32 {
	least := uint32(math.MaxUint32)
	s.each(key, func(c *uint32) { least = min(least, *c) })
	return least
}

// each visits the counters of a key: g_j = h1 + j·h2 mod w in row j.
func (s *Sketch) each(key uint64, visit func(*uint32)) {
	w := uint64(s.p.Width)
	row := 0
	for i := range s.hashes {
		g, step := s.hashes[i].at(key, w)
		for range s.p.Depth {
			visit(&s.counts[row+int(g)])
			row += s.p.Width
			if g += step; g >= w {
				g -= w
			}
		}
	}
}

func addSaturated(a, b uint32) uint32 {
	sum, carry := bits.Add32(a, b, 0)
	return sum | -carry
}

// pair is two hash functions drawn from the pairwise independent family (a·x+b mod 2⁶¹-1) mod w.
type pair struct{ a1, b1, a2, b2 uint64 }

const mersenne = 1<<61 - 1

func newPairs(p Params) []pair {
	const stream = 0x636f756e74 // keeps the draws apart from other uses of the same seed
	rng := rand.New(rand.NewPCG(p.Seed, stream))
	pairs := make([]pair, p.Copies)
	for i := range pairs {
		pairs[i] = pair{rng.Uint64N(mersenne), rng.Uint64N(mersenne), rng.Uint64N(mersenne), rng.Uint64N(mersenne)}
	}
	return pairs
}

func (p *pair) at(key, w uint64) (h1, h2 uint64) {
	x := key&mersenne + key>>61
	return affine(p.a1, p.b1, x) % w, affine(p.a2, p.b2, x) % w
}

// affine returns a·x+b mod 2⁶¹-1 for a, b below it and x < 2⁶¹+7.
func affine(a, b, x uint64) uint64 {
	high, low := bits.Mul64(a, x)
	sum := low&mersenne + (low>>61 | high<<3) + b // below 3·2⁶¹+8
	sum = sum&mersenne + sum>>61
	if sum >= mersenne {
		sum -= mersenne
	}
	return sum
}

func nextPrime(n int) int {
	for !isPrime(n) {
		n++
	}
	return n
}

func isPrime(n int) bool {
	if n < 2 {
		return false
	}
	for i := 2; i*i <= n; i++ {
		if n%i == 0 {
			return false
		}
	}
	return true
}
