package bloom

import (
	"fmt"
	"math"
	"math/bits"
)

// lineBits is the length of a block of a Blocked filter: 64 bytes, a cache line of most processors.
const lineBits = 512

// Blocked is a cache-line-blocked Bloom filter (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom
// Filters", 2007). All bits of a key lie in one block of 512, so a lookup misses the cache once at most. Take it where
// lookups must be fast and the filter is in memory. At a false-positive rate of 1 % it takes 12 % more bits than
// Filter, at 0.1 % 16 % more. It cannot be cut or folded.
//
// Make one with NewBlocked or NewBlockedForRate. A Blocked may be read by many goroutines at once, but not while one
// writes.
type Blocked struct {
	lines  [][8]uint64
	hashes int
	seed   Hasher
}

// NewBlocked returns an empty filter with 1 to 64 hash functions. It has at least the given number of bits, rounded up
// to whole blocks of 512. An error names the parameter that is out of its range. O(bits).
func NewBlocked(bits uint64, hashes int, seed Hasher) (*Blocked, error) {
	if err := checkSize(0, bits); err != nil {
		return nil, err
	}
	if hashes < 1 || hashes > maxLineHashes {
		return nil, fmt.Errorf("%w: hashes %d is not in 1…%d", errParams, hashes, maxLineHashes)
	}
	return &Blocked{lines: make([][8]uint64, (bits+lineBits-1)/lineBits), hashes: hashes, seed: seed}, nil
}

// NewBlockedForRate takes up to speedBits times the least number of bits if that saves hash functions.
const speedBits = 1.1

// NewBlockedForRate returns an empty filter whose false-positive rate is at most rate with n keys in it, under the zero
// seed. Of the filters at most a tenth longer than the shortest, it has the fewest hash functions. It is an error if
// the rate is not between 0 and 1, or below what 64 hash functions reach. O(n), and some milliseconds to choose.
func NewBlockedForRate(n int, rate float64) (*Blocked, error) {
	if err := checkRate(n, rate); err != nil {
		return nil, err
	}
	var sizes []float64 // bits a key for 1, 2, … hash functions, as long as more help
	for k := 1; k <= maxLineHashes; k++ {
		c := bitsPerKey(k, rate)
		if k > 1 && !math.IsInf(c, 1) && c >= sizes[k-2] {
			break
		}
		sizes = append(sizes, c)
	}
	hashes := 1
	for sizes[hashes-1] > speedBits*sizes[len(sizes)-1] {
		hashes++
	}
	size := math.Ceil(sizes[hashes-1] * float64(max(n, 1)))
	if !(size <= min(maxBits, math.MaxInt)) {
		return nil, fmt.Errorf("%w: %d keys at rate %v need %.3g bits", errParams, n, rate, size)
	}
	return NewBlocked(uint64(size), hashes, Hasher{})
}

// maxLineHashes is the largest number of hash functions, more than any useful rate needs.
const maxLineHashes = 64

// bitsPerKey returns the least number of bits a key with which k hash functions reach a rate; +Inf if there is none
// below 256.
func bitsPerKey(k int, rate float64) float64 {
	low, high := 0.5, 256.0
	if blockedRate(high, k) > rate {
		return math.Inf(1)
	}
	for high-low > 1e-4 {
		if mid := (low + high) / 2; blockedRate(mid, k) > rate {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// blockedRate returns the false-positive rate at c bits a key. A line has a Poisson number j of keys, and a bit in it
// is set with probability 1-(1-1/512)^(kj).
func blockedRate(c float64, k int) float64 {
	mean := lineBits / c
	rate := 0.0
	for j := range int(mean+float64(12*math.Sqrt(mean))) + 24 {
		logp := float64(float64(j)*math.Log(mean)) - mean
		lg, _ := math.Lgamma(float64(j + 1))
		rate += float64(math.Exp(logp-lg) * math.Pow(fillExpected(lineBits, float64(k*j)), float64(k)))
	}
	return min(rate, 1)
}

// SizeBytes returns the memory of the bits. O(1).
func (f *Blocked) SizeBytes() int { return 64 * len(f.lines) }

// FalsePositiveRate returns the false-positive rate, computed from the filter's bits: the mean of (t/512)^k over the
// lines, for t bits set in a line. O(m).
func (f *Blocked) FalsePositiveRate() float64 {
	if len(f.lines) == 0 {
		return 0
	}
	var lines [lineBits + 1]int // number of lines by their number of ones
	for i := range f.lines {
		lines[countOnes(f.lines[i][:])]++
	}
	sum := 0.0
	for ones, n := range lines {
		sum += float64(float64(n) * math.Pow(float64(ones)/lineBits, float64(f.hashes)))
	}
	return sum / float64(len(f.lines))
}

// Add adds a key: one cache line, no allocation.
func (f *Blocked) Add(key []byte) { f.AddHash(f.seed.Hash(key)) }

// Contains reports whether the key may have been added: one cache line, no allocation.
func (f *Blocked) Contains(key []byte) bool { return f.ContainsHash(f.seed.Hash(key)) }

// TestAndAdd adds a key and reports whether it may have been there before. One cache line, no allocation.
func (f *Blocked) TestAndAdd(key []byte) bool {
	h := f.seed.Hash(key)
	there := f.ContainsHash(h)
	f.AddHash(h)
	return there
}

// AddHash adds a key by its hash under the filter's Hasher, or by Hash64. O(k).
func (f *Blocked) AddHash(h Hash) {
	if len(f.lines) == 0 {
		panic(zeroValue)
	}
	line, x := f.line(h), h.A
	for left := f.hashes; ; x = again(x, h) {
		line[x>>6&7] |= 1 << (x & 63)
		switch left {
		default:
			line[x>>60&7] |= 1 << (x >> 54 & 63)
			fallthrough
		case 6:
			line[x>>51&7] |= 1 << (x >> 45 & 63)
			fallthrough
		case 5:
			line[x>>42&7] |= 1 << (x >> 36 & 63)
			fallthrough
		case 4:
			line[x>>33&7] |= 1 << (x >> 27 & 63)
			fallthrough
		case 3:
			line[x>>24&7] |= 1 << (x >> 18 & 63)
			fallthrough
		case 2:
			line[x>>15&7] |= 1 << (x >> 9 & 63)
		case 1:
		}
		if left -= perWord; left <= 0 {
			return
		}
		x >>= 9 * perWord
	}
}

// ContainsHash does what Contains does, by the key's hash under the filter's Hasher, or Hash64.
//
// Where the caches hold the filter, it has no branch that depends on the filter until a word of positions is used up,
// because the probe that fails cannot be foreseen. In a larger filter it returns after two probes if one fails, as for
// most absent keys: the fewer instructions lookups have, the more of them wait for memory at a time. That gains more
// than wrong guesses cost.
func (f *Blocked) ContainsHash(h Hash) bool {
	if len(f.lines) == 0 {
		return false
	}
	line, x, far := f.line(h), h.A, len(f.lines) > cachedLines
	for left := f.hashes; ; x = again(x, h) {
		hit := line[x>>6&7] >> (x & 63)
		if left > 1 {
			hit &= line[x>>15&7] >> (x >> 9 & 63)
		}
		if far && hit&1 == 0 {
			return false
		}
		switch left {
		default:
			hit &= line[x>>60&7] >> (x >> 54 & 63)
			fallthrough
		case 6:
			hit &= line[x>>51&7] >> (x >> 45 & 63)
			fallthrough
		case 5:
			hit &= line[x>>42&7] >> (x >> 36 & 63)
			fallthrough
		case 4:
			hit &= line[x>>33&7] >> (x >> 27 & 63)
			fallthrough
		case 3:
			hit &= line[x>>24&7] >> (x >> 18 & 63)
		case 1, 2:
		}
		if left -= perWord; left <= 0 || hit&1 == 0 {
			return hit&1 != 0
		}
		x >>= 9 * perWord
	}
}

// ContainsAll sets found[i] to whether keys[i] may have been added. len(found) must be len(keys). In a filter larger
// than the caches it hashes many keys, then loads the line of each, then asks. So the processor waits for many lines at
// a time. No allocation.
func (f *Blocked) ContainsAll(keys [][]byte, found []bool) {
	found = found[:len(keys)]
	if len(f.lines) <= cachedLines {
		for i, key := range keys {
			found[i] = f.Contains(key)
		}
		return
	}
	var hashes [256]Hash
	for len(keys) > 0 {
		n := min(len(hashes), len(keys))
		for i, key := range keys[:n] {
			hashes[i] = f.seed.Hash(key)
		}
		sum := uint64(0)
		for i := range hashes[:n] {
			sum += f.line(hashes[i])[0]
		}
		use(sum)
		for i, h := range hashes[:n] {
			found[i] = f.ContainsHash(h)
		}
		keys, found = keys[n:], found[n:]
	}
}

// use keeps the compiler from dropping loads that only bring lines into the caches.
//
//go:noinline
func use(uint64) {}

// cachedLines is the number of lines up to which the caches hold a filter.
const cachedLines = cached / 8

// perWord is the number of positions of 9 bits in a word.
const perWord = 7

// again returns another word of positions, made of the bits left of the last word and of the hash.
func again(x uint64, h Hash) uint64 { return mix64(h.A ^ bits.RotateLeft64(h.B, 27) + x) }

// line returns the block that a hash falls in.
func (f *Blocked) line(h Hash) *[8]uint64 {
	i, _ := bits.Mul64(h.B, uint64(len(f.lines)))
	return &f.lines[i]
}

// Merge makes f the filter of the union of both sets of keys. Filters that differ in size, hash functions or seed are
// an error matched by ErrMismatch. O(m).
func (f *Blocked) Merge(g *Blocked) error {
	if len(f.lines) != len(g.lines) || f.hashes != g.hashes || f.seed != g.seed {
		return fmt.Errorf("%w: blocked filters of %d and %d bytes, %d and %d hash functions", ErrMismatch,
			f.SizeBytes(), g.SizeBytes(), f.hashes, g.hashes)
	}
	for i := range f.lines {
		for j := range f.lines[i] {
			f.lines[i][j] |= g.lines[i][j]
		}
	}
	return nil
}

// Reset removes all keys. O(m).
func (f *Blocked) Reset() { clear(f.lines) }
