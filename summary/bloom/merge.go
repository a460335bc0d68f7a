package bloom

import (
	"fmt"
)

// Merge makes f the filter of the union of both sets of keys. If the filters have different numbers of blocks, f is
// left with the lower number (Papapetrou et al., section 3.2). If they differ in anything else, it returns an error
// that names it, matched by ErrMismatch, and f is unchanged. Fold makes block lengths equal that differ by a power of
// two. O(m).
func (f *Filter) Merge(g *Filter) error {
	return f.merge(g, func(dst, src []uint64) {
		for i, w := range src {
			dst[i] |= w
		}
	})
}

// Intersect makes f a filter that contains the intersection of both sets, with more false positives than a filter built
// from the intersection. Otherwise like Merge. O(m).
func (f *Filter) Intersect(g *Filter) error {
	return f.merge(g, func(dst, src []uint64) {
		for i, w := range src {
			dst[i] &= w
		}
	})
}

func (f *Filter) merge(g *Filter, op func(dst, src []uint64)) error {
	if err := f.matches(g); err != nil {
		return err
	}
	blocks := min(f.params.Blocks, g.params.Blocks)
	if blocks == 0 {
		return nil // zero values
	}
	f.Truncate(blocks)
	op(f.words, g.words[:len(f.words)])
	clearFrom(f.words, f.params.Bits()) // g may go on within the last word
	return nil
}

// AndOnesCount returns the number of bits that are set in both filters: OnesCount after Intersect, without changing or
// allocating anything. With OnesCount of both it serves to estimate the intersection (Papapetrou et al., section 5.3).
// Errors as in Merge. O(m).
func (f *View) AndOnesCount(g *Filter) (int, error) {
	if err := f.matches(g); err != nil {
		return 0, err
	}
	n := min(f.params.Bits(), g.params.Bits())
	return countAndRange(f.words, g.words, 0, n), nil
}

// matches returns an error that names a difference between two filters, except in the number of blocks.
func (f *View) matches(g *Filter) error {
	p, q := f.params, g.params
	q.Blocks = p.Blocks
	if p == q {
		return nil
	}
	return mismatch(p, q)
}

func mismatch(p, q Params) error {
	switch {
	case p.Hasher != q.Hasher:
		return fmt.Errorf("%w: seeds differ", ErrMismatch)
	case p.BlockBits != q.BlockBits:
		return fmt.Errorf("%w: blocks of %d and %d bits", ErrMismatch, p.BlockBits, q.BlockBits)
	case p.Hashes != q.Hashes:
		return fmt.Errorf("%w: %d and %d hash functions a block", ErrMismatch, p.Hashes, q.Hashes)
	default:
		return fmt.Errorf("%w: %d and %d blocks", ErrMismatch, p.Blocks, q.Blocks)
	}
}

// Truncate drops all but the given number of first blocks. The result is the filter that would have been built with
// that number (Papapetrou et al., section 3.2). It panics if blocks is less than 1. It changes nothing if there are no
// more. O(1); memory is kept until a Clone.
func (f *Filter) Truncate(blocks int) {
	if blocks < 1 {
		panic("bloom: Truncate to less than one block")
	}
	if blocks >= f.params.Blocks {
		return
	}
	f.params.Blocks = blocks
	f.words = f.words[:wordsFor(f.params.Bits())]
	clearFrom(f.words, f.params.Bits())
	f.probes = f.probes[:min(len(f.probes), f.params.hashes())]
}

// Fold halves the length of every block: the result is the filter that would have been built with blocks of half the
// length. It panics if BlockBits is odd. The number of hash functions stays, so the rate rises more than by Truncate
// (Papapetrou et al., section 3.1): Fold is for sparse filters. A position is the top of a number, so neighbours are
// ORed.
func (f *Filter) Fold() {
	if f.params.BlockBits%2 != 0 {
		panic("bloom: Fold of blocks with an odd number of bits")
	}
	p := f.params
	p.BlockBits /= 2
	words := make([]uint64, wordsFor(p.Bits()))
	foldNeighbours(words, f.words)
	*f = *newFilter(p, words)
}

// foldNeighbours folds all blocks at once, because each begins at an even bit.
func foldNeighbours(dst, src []uint64) {
	for i, w := range src {
		dst[i/2] |= evenBits(w|w>>1) << (i % 2 * 32)
	}
}
