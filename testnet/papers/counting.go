package papers

import (
	"errors"
	"math/bits"
)

// counterTop is the highest value of a four-bit counter.
const counterTop = 15

// ErrCounterOverflow says that a counter of a CountingBloom is at its highest value.
var ErrCounterOverflow = errors.New("papers: counter overflow")

// CountingBloom is the counting Bloom filter with which Bonomi et al. compare d-left counting filters (section 2.1).
// It has m counters of four bits. Each member increments k of them, chosen by double hashing of its fingerprint.
type CountingBloom struct {
	words    []uint64 // sixteen counters in each word
	counters uint64
	hashes   int
}

// NewCountingBloom returns an empty filter of m counters, 1 or more, and k hash functions, 1 or more. O(m).
func NewCountingBloom(m, k int) *CountingBloom {
	return &CountingBloom{words: make([]uint64, (m+15)/16), counters: uint64(m), hashes: k}
}

// SizeBytes returns the memory of the counters in bytes. O(1).
func (c *CountingBloom) SizeBytes() int { return len(c.words) * 8 }

// Contains reports whether f is probably a member. It never denies a member. O(k).
func (c *CountingBloom) Contains(f uint64) bool {
	h, step := split(f)
	for range c.hashes {
		at := c.index(h)
		if c.words[at/16]>>(at%16*4)&counterTop == 0 {
			return false
		}
		h += step
	}
	return true
}

// Add adds f once more. It returns ErrCounterOverflow when one of its counters is full; the counters incremented
// before stay so. O(k).
func (c *CountingBloom) Add(f uint64) error {
	h, step := split(f)
	for range c.hashes {
		at := c.index(h)
		if c.words[at/16]>>(at%16*4)&counterTop == counterTop {
			return ErrCounterOverflow
		}
		c.words[at/16] += 1 << (at % 16 * 4)
		h += step
	}
	return nil
}

// index maps a hash to a counter by its high bits.
func (c *CountingBloom) index(h uint64) uint64 {
	at, _ := bits.Mul64(h, c.counters)
	return at
}

// split returns the first hash of a fingerprint and the step to the next ones: h_i = h1 + i·h2 (Kirsch and
// Mitzenmacher).
func split(f uint64) (h, step uint64) {
	h = spread(f)
	return h, spread(h^f) | 1
}

// spread spreads every bit of x over the word: two rounds of multiply and fold.
func spread(x uint64) uint64 {
	x = (x ^ x>>32) * 0x9e6c63d0876a9a4b
	x = (x ^ x>>29) * 0xd1b54a32d192ed03
	return x ^ x>>32
}
