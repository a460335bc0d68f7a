package counting

import (
	"fmt"
	"math"
	"math/bits"
)

// Bounds of NewBloom.
const (
	maxCounters = 1 << 38 // 128 GiB; on 32-bit machines less than 2^29, 256 MiB
	maxHashes   = 64
)

const mostCounters = min(maxCounters, math.MaxInt/4)

const counterTop = 15 // highest value of a four-bit counter

// Bloom is the counting Bloom filter (Fan et al.; section 2.1 of the paper). It has m counters of four bits, k of them
// for each member, chosen by double hashing of its fingerprint. It costs k memory accesses an operation, and 4m/n bits
// a member: at equal false-positive rates more than twice what DLeft takes. Make one with NewBloom.
type Bloom struct {
	words    []uint64 // sixteen counters each
	counters uint64
	hashes   int
	members  int
}

// NewBloom returns an empty filter of m counters (1 to 2^38) and k hash functions (1 to 64). An error names the number
// out of range. O(m).
func NewBloom(m, k int) (*Bloom, error) {
	if m < 1 || m > mostCounters {
		return nil, fmt.Errorf("%w: counters m is %d, want 1 to %d", errParams, m, int(mostCounters))
	}
	if k < 1 || k > maxHashes {
		return nil, fmt.Errorf("%w: hash functions k is %d, want 1 to %d", errParams, k, maxHashes)
	}
	return &Bloom{words: make([]uint64, (m+15)/16), counters: uint64(m), hashes: k}, nil
}

// NewBloomForRate returns an empty filter, the smallest for n members (0 or more) at a false-positive rate between 0
// and 1 (both exclusive). It has k = log2(1/rate) rounded, and the least m for that k. O(m).
func NewBloomForRate(n int, rate float64) (*Bloom, error) {
	if n < 0 || !(rate > 0 && rate < 1) {
		return nil, fmt.Errorf("%w: %d members at rate %v, want 0 or more at a rate between 0 and 1", errParams, n, rate)
	}
	k := max(1, int(math.Round(-math.Log2(rate))))
	if k > maxHashes {
		return nil, fmt.Errorf("%w: rate is %v, want at least 2^-%d", errParams, rate, maxHashes)
	}
	// From (1-e^(-kn/m))^k = rate.
	m := math.Ceil(-float64(k) * float64(n) / math.Log1p(-math.Pow(rate, 1/float64(k))))
	if !(m <= mostCounters) {
		return nil, fmt.Errorf("%w: %d members at rate %v take %.3g counters, want at most %d", errParams, n, rate, m, int(mostCounters))
	}
	return NewBloom(max(1, int(m)), k)
}

// Len is the number of members, repetitions included. O(1).
func (c *Bloom) Len() int { return c.members }

// SizeBytes is the memory of the counters. O(1).
func (c *Bloom) SizeBytes() int { return len(c.words) * 8 }

// FalsePositiveRate is the expected rate (1-(1-1/m)^(kn))^k for the n members held, counted as all different. O(1).
func (c *Bloom) FalsePositiveRate() float64 {
	k, n := float64(c.hashes), float64(c.members)
	zero := math.Exp(k * n * math.Log1p(-1/float64(c.counters)))
	return math.Pow(1-zero, k)
}

// Contains reports whether f is probably a member; a member is never denied. O(k).
func (c *Bloom) Contains(f uint64) bool {
	h, step := split(f)
	for range c.hashes {
		if c.get(c.index(h)) == 0 {
			return false
		}
		h += step
	}
	return true
}

// Count is the least of f's counters: never less than how many times f is a member (unless overflow was reported).
// O(k).
func (c *Bloom) Count(f uint64) int {
	h, step := split(f)
	least := uint64(counterTop)
	for range c.hashes {
		least = min(least, c.get(c.index(h)))
		h += step
	}
	return int(least)
}

// Add adds f once more, or returns ErrCounterOverflow, with nothing changed, when one of its counters is at 15. O(k).
func (c *Bloom) Add(f uint64) error {
	h, step := split(f)
	for i := range c.hashes {
		at := c.index(h)
		if c.get(at) == counterTop {
			for range i { // take back
				h -= step
				c.add(c.index(h), ^uint64(0))
			}
			return ErrCounterOverflow
		}
		c.add(at, 1)
		h += step
	}
	c.members++
	return nil
}

// Remove takes f away once and reports whether it was (probably) there. Removing what was never added, but is taken for
// a member, damages the filter: it may then deny members. O(k).
func (c *Bloom) Remove(f uint64) bool {
	if c.members == 0 || !c.Contains(f) {
		return false
	}
	h, step := split(f)
	for i := range c.hashes {
		at := c.index(h)
		if c.get(at) == 0 { // two of f's counters are one, and it was 1: a false positive
			for range i {
				h -= step
				c.add(c.index(h), 1)
			}
			return false
		}
		c.add(at, ^uint64(0))
		h += step
	}
	c.members--
	return true
}

// index maps a hash to one of the counters by its high bits.
func (c *Bloom) index(h uint64) uint64 {
	at, _ := bits.Mul64(h, c.counters)
	return at
}

func (c *Bloom) get(at uint64) uint64 { return c.words[at/16] >> (at % 16 * 4) & 15 }

func (c *Bloom) add(at, delta uint64) { c.words[at/16] += delta << (at % 16 * 4) }

// split returns the first hash of a fingerprint and the step to the next ones: h_i = h1 + i·h2 (Kirsch and
// Mitzenmacher).
func split(f uint64) (h, step uint64) {
	h = mix(f)
	return h, mix(h^f) | 1
}

// mix is a bijection that spreads every bit of x over the word (two rounds of multiply and fold).
func mix(x uint64) uint64 {
	x = (x ^ x>>32) * 0x9e6c63d0876a9a4b
	x = (x ^ x>>29) * 0xd1b54a32d192ed03
	return x ^ x>>32
}
