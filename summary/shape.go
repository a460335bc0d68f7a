package summary

import (
	"fmt"
	"math/bits"
	"slices"
)

// Limits of every summary. The package documentation names them.
const (
	maxKeys        = 1 << 26 // keys of a collection
	maxLevel       = FingerprintBits
	maxBlocks      = 64
	maxSampleBytes = 60 << 10 // target size of a sample
	maxDepth       = 32       // levels of a block beyond log2 of the keys: a false-positive rate of 2^-32
	maxSampleDepth = 8        // levels of the sample beyond log2 of the keys
	maxParts       = 1 << 14  // parts of a stream
	maxPartBytes   = 64 << 10 // bytes of a part
)

// Shape sets the parts of a summary. Without sample and levels it stands for [DefaultShape].
type Shape struct {
	// Keys is the number of keys the parts are laid out for; 0 stands for the number of keys at hand. Under one shape a
	// collection may grow by half, or shrink to half (a small one by a little more). Publishers keep the shape while
	// [Shape.Fits], so that the parts of successive epochs line up and nothing more than changes need be sent.
	Keys int
	// SampleBytes is the target size of part 0, at most 60 KiB, so that a collection can grow. 0: no sample.
	SampleBytes int
	// SampleLevel is the level that the sample is cut at, from log2 of Keys to log2 of Keys + 8; 0 without a sample.
	SampleLevel uint8
	// Levels has the final level of every block, in the order of the stream. Each is from 1 to 48, and at most log2 of
	// Keys + 32. With a sample, the first is at least log2 of Keys.
	Levels []uint8
}

// The default shape: measured in TestSampleLevel and TestDefaultRate.
const (
	defaultSampleBytes = 256
	defaultSampleDepth = 6  // levels of the sample beyond log2 n
	defaultDepth       = 11 // levels of the block beyond log2 n
)

// DefaultShape returns one block of 2^11 to 2^12 bits a key. It takes 12.4 to 13.4 bits a key on the wire, and has a
// false-positive rate of 1/4096 to 1/2048. Of 121 peers known in full, fewer than 0.06 on average match a key that
// nobody holds. The sample has 256 B, some 280 keys, and is cut at level ⌈log2 n⌉ + 6. Another level would cost more
// keys than it saves in false matches.
//
// One block is best from about three bits a key on. A bit a key spent on deepening it halves the rate; a further block
// takes 1.39 bits for that. [ShapeForBytes] and [ShapeForRate] find shapes for other budgets. O(1).
func DefaultShape(n int) Shape {
	log := ceilLog2(n)
	return Shape{
		Keys:        max(n, 1),
		SampleBytes: defaultSampleBytes,
		SampleLevel: uint8(log + defaultSampleDepth),
		Levels:      []uint8{uint8(log + defaultDepth)},
	}
}

// Fits reports whether n is within a factor of √2 of the number of keys that s is laid out for. If not, the next epoch
// deserves a new shape. O(1).
func (s Shape) Fits(n int) bool {
	have, planned := int64(n)*int64(n), int64(s.Keys)*int64(s.Keys)
	return have <= 2*planned && 2*have >= planned
}

// equal reports whether two shapes give the same plan of parts.
func (s Shape) equal(o Shape) bool {
	return s.Keys == o.Keys && s.SampleBytes == o.SampleBytes && s.SampleLevel == o.SampleLevel && slices.Equal(s.Levels, o.Levels)
}

// normal returns s for n keys, its zero values replaced by the values they stand for.
func (s Shape) normal(n int) Shape {
	if s.Keys == 0 {
		s.Keys = max(n, 1)
	}
	if s.SampleBytes == 0 && s.SampleLevel == 0 && len(s.Levels) == 0 {
		return DefaultShape(s.Keys)
	}
	s.Levels = slices.Clone(s.Levels)
	return s
}

// check returns an error that tells the first fault of s for n keys; nil if there is none.
func (s Shape) check(n int) error {
	switch {
	case n < 0 || n > maxKeys || s.Keys < 1 || s.Keys > maxKeys:
		return fmt.Errorf("summary: %d keys, shape for %d, at most %d: %w", n, s.Keys, maxKeys, ErrLimit)
	case n > s.Keys+s.Keys/2+64 || s.Keys > 2*n+1024:
		return fmt.Errorf("summary: bad shape: %d keys in a shape for %d: %w", n, s.Keys, ErrMalformed)
	case len(s.Levels) == 0 || len(s.Levels) > maxBlocks:
		return fmt.Errorf("summary: bad shape: %d blocks, not 1 to %d: %w", len(s.Levels), maxBlocks, ErrMalformed)
	case s.SampleBytes < 0 || s.SampleBytes > maxSampleBytes || (s.SampleBytes == 0) != (s.SampleLevel == 0):
		return fmt.Errorf("summary: bad shape: sample of %d bytes at level %d: %w", s.SampleBytes, s.SampleLevel, ErrMalformed)
	case s.SampleBytes > 0 && (s.Levels[0] < floorLog2(s.Keys) || s.SampleLevel < floorLog2(s.Keys) || int(s.SampleLevel) > ceilLog2(s.Keys)+maxSampleDepth):
		return fmt.Errorf("summary: bad shape: sample at level %d, block at %d, for %d keys: %w", s.SampleLevel, s.Levels[0], s.Keys, ErrMalformed)
	}
	for i, l := range s.Levels {
		if l < 1 || l > maxLevel || int(l) > ceilLog2(s.Keys)+maxDepth {
			return fmt.Errorf("summary: bad shape: block %d at level %d: %w", i, l, ErrMalformed)
		}
	}
	return nil
}

// ceilLog2 returns the binary logarithm of n, rounded up; 0 for n < 2.
func ceilLog2(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// floorLog2 returns the binary logarithm of n, rounded down; 0 for n < 1.
func floorLog2(n int) uint8 { return uint8(bits.Len(uint(max(n, 1))) - 1) }
