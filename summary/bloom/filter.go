package bloom

import (
	"math"
	"slices"
)

// View is a read-only filter. Every Filter contains a View. OpenView makes a View of bytes without copying them.
type View struct {
	params Params
	probes []probe  // the hash functions. Never written, so shared by clones.
	words  []uint64 // bit i of the filter is bit i%64 of word i/64, block b has m_b bits from b*m_b on; the rest is 0
}

// Filter is a Bloom filter: standard with one block, block-partitioned with more. Add never fails. Contains is true for
// every key added, and for others with the false-positive rate.
//
// A Filter may be read by many goroutines at once, but not while one writes; use Concurrent for that.
type Filter struct{ View }

// New returns an empty filter of Bits()/8 bytes, or an error that names the parameters out of range. O(m).
func New(p Params) (*Filter, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return newFilter(p, make([]uint64, wordsFor(p.Bits()))), nil
}

// NewForRate returns an empty standard filter under the zero Hasher. It is the shortest whose false-positive rate with
// n keys is at most rate (0 < rate < 1). An error names the number out of its range. O(m).
func NewForRate(n int, rate float64) (*Filter, error) {
	p, err := paramsForRate(n, rate)
	if err != nil {
		return nil, err
	}
	return New(p)
}

// newFilter makes a filter of checked parameters around words, which it takes over.
func newFilter(p Params, words []uint64) *Filter {
	f := &Filter{View{params: p, words: words, probes: make([]probe, p.hashes())}}
	for i := range f.probes {
		f.probes[i] = probe{multipliers[i], uint64(i/p.Hashes) * p.BlockBits}
	}
	return f
}

// Params returns the filter's parameters. O(1).
func (f *View) Params() Params { return f.params }

// Add adds a key: O(k), no allocation.
func (f *Filter) Add(key []byte) { f.AddHash(f.params.Hasher.Hash(key)) }

// TestAndAdd adds a key and reports whether it may have been there before. O(k), no allocation.
func (f *Filter) TestAndAdd(key []byte) bool {
	h := f.params.Hasher.Hash(key)
	there := f.ContainsHash(h)
	f.AddHash(h)
	return there
}

// AddHash adds a key by its hash under the filter's Hasher. O(k).
func (f *Filter) AddHash(h Hash) {
	if len(f.probes) == 0 {
		panic(zeroValue)
	}
	words, m := f.words, f.params.BlockBits
	for _, p := range f.probes {
		at := p.at(h, m)
		words[at/64] |= 1 << (at % 64)
	}
}

// Contains reports whether the key may have been added: O(k), no allocation.
func (f *View) Contains(key []byte) bool { return f.ContainsHash(f.params.Hasher.Hash(key)) }

// ContainsHash does what Contains does, by the key's hash under the filter's Hasher. O(k).
func (f *View) ContainsHash(h Hash) bool {
	words, m := f.words, f.params.BlockBits
	probes := f.probes
	// A key that is absent fails at a random one of the first few probes, which no branch predictor can foresee: ask
	// four at once. A key that passes four is most likely present, and the rest is predictable.
	if len(probes) >= 4 {
		a, b, c, d := probes[0].at(h, m), probes[1].at(h, m), probes[2].at(h, m), probes[3].at(h, m)
		if words[a/64]>>(a%64)&(words[b/64]>>(b%64))&(words[c/64]>>(c%64))&(words[d/64]>>(d%64))&1 == 0 {
			return false
		}
		probes = probes[4:]
	}
	for _, p := range probes {
		at := p.at(h, m)
		if words[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return len(f.probes) > 0
}

// SizeBytes returns the memory of the bits. O(1).
func (f *View) SizeBytes() int { return 8 * len(f.words) }

// Reset removes all keys. O(m).
func (f *Filter) Reset() { clear(f.words) }

// Clone returns a filter of the same keys, independent of f. O(m).
func (f *View) Clone() *Filter {
	c := *f
	c.words = slices.Clone(f.words)
	return &Filter{c}
}

// Equal reports whether two filters have equal parameters and bits. O(m).
func (f *View) Equal(g *Filter) bool {
	return f.params == g.params && slices.Equal(f.words, g.words)
}

// OnesCount returns the number of bits set. An uncompressed filter is best if that is half of Params().Bits(). O(m).
func (f *View) OnesCount() int { return countOnes(f.words) }

// BlockOnesCount returns the number of bits set in a block, 0 <= block < Blocks. It panics for another block. O(m_b).
func (f *View) BlockOnesCount(block int) int {
	f.checkBlock(block)
	return countRange(f.words, uint64(block)*f.params.BlockBits, f.params.BlockBits)
}

// FalsePositiveRate returns the false-positive rate, computed from the filter's bits: (t/m)^k for t bits set in a
// standard filter (Papapetrou et al., section 2). In a partitioned one it is the product of the blocks' rates. O(m).
func (f *View) FalsePositiveRate() float64 {
	if f.params.Blocks == 0 {
		return 0
	}
	rate := 1.0
	for b := range f.params.Blocks {
		fill := float64(f.BlockOnesCount(b)) / float64(f.params.BlockBits)
		rate *= math.Pow(fill, float64(f.params.Hashes))
	}
	return rate
}

func (f *View) checkBlock(block int) {
	if block < 0 || block >= f.params.Blocks {
		panic("bloom: no such block")
	}
}
