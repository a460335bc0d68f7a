package summary

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// Filter is what a prefix knows, free of its parts and chain. It can be folded and united without the keys, but no
// longer be verified or sent. [Prefix.Truncate] cuts a prefix before. Immutable.
type Filter struct {
	seed   SeedTag
	blocks []*trie.Block
}

// Filter is the filter that p is. It shares memory with p. O(1).
func (p *Prefix) Filter() *Filter { return &Filter{p.Header().Seed, p.Blocks()} }

// Contains reports whether the collection, or one of those united, may hold a key of fingerprint x: always true if it
// does. O(blocks).
func (f *Filter) Contains(x Fingerprint) bool {
	for i, b := range f.blocks {
		if !b.Contains(position(x, i)) {
			return false
		}
	}
	return true
}

// FalsePositiveRate is the probability that Contains is true of a random fingerprint. O(pieces).
func (f *Filter) FalsePositiveRate() float64 {
	rate := 1.0
	for _, b := range f.blocks {
		rate *= b.FalsePositiveRate()
	}
	return rate
}

// Fold is f with no block deeper than a level: each level less takes about a bit a key less and doubles the rate. A
// level below the cells of a block, which are about as many as its keys, leaves it at those. O(n).
func (f *Filter) Fold(level int) *Filter {
	out := &Filter{seed: f.seed}
	for _, b := range f.blocks {
		out.blocks = append(out.blocks, b.Fold(level))
	}
	return out
}

// Union is the filter of what either collection holds: known where both are, at the lower of their levels. ErrSeed if
// they are of different seeds. O(n1+n2).
func Union(a, b *Filter) (*Filter, error) {
	if a.seed != b.seed {
		return nil, fmt.Errorf("summary: union of %v and %v: %w", a.seed, b.seed, ErrSeed)
	}
	out := &Filter{seed: a.seed}
	for i := range min(len(a.blocks), len(b.blocks)) {
		out.blocks = append(out.blocks, trie.Union(a.blocks[i], b.blocks[i]))
	}
	return out, nil
}
