package summary

import (
	"fmt"
	"sort"
)

// Filter is what a prefix knows, free of its parts and chain: it can be reduced and united without the keys, but no
// longer be verified or sent. Immutable.
type Filter struct {
	seed   SeedTag
	blocks []band
}

// band is what is known of one block: sets of nodes in cells of its start level, in order and apart.
type band struct {
	start uint8
	sets  []*set
}

// Filter is the filter that p is. It shares memory with p where it can.
func (p *Prefix) Filter() *Filter {
	f := &Filter{seed: p.header.Seed}
	for _, t := range p.tries {
		b := band{start: t.start}
		t.each(func(s *set, begin, end int) {
			if begin > s.begin || end < s.end {
				s = newSet(s.appendCells(nil, begin, end, 0), begin, end, s.depth)
			}
			b.sets = append(b.sets, s)
		})
		f.blocks = append(f.blocks, b)
	}
	return f
}

// Contains reports whether the collection, or one of those united, may hold a key of fingerprint x: always true if it
// does. O(blocks).
func (f *Filter) Contains(x Fingerprint) bool {
	for i := range f.blocks {
		if b := &f.blocks[i]; !b.contains(position(x, i)) {
			return false
		}
	}
	return true
}

func (b *band) contains(x uint64) bool {
	cell := int(x >> (64 - b.start))
	i := sort.Search(len(b.sets), func(i int) bool { return b.sets[i].end > cell })
	if i == len(b.sets) || cell < b.sets[i].begin {
		return true
	}
	return b.sets[i].contains(x >> (64 - int(b.start) - b.sets[i].depth))
}

// FalsePositiveRate is the probability that Contains is true of a random fingerprint.
func (f *Filter) FalsePositiveRate() float64 {
	rate := 1.0
	for _, b := range f.blocks {
		cells := float64(int(1) << b.start)
		hit := cells
		for _, s := range b.sets {
			hit += float64(s.count)/float64(uint64(1)<<s.depth) - float64(s.end-s.begin)
		}
		rate *= hit / cells
	}
	return rate
}

// Fold is f with no block deeper than a level: each level less takes about a bit a key less and doubles the rate. A
// level below the cells of a block, which are about as many as its keys, leaves it at those. O(n).
func (f *Filter) Fold(level int) *Filter {
	out := &Filter{seed: f.seed}
	for _, b := range f.blocks {
		c := band{start: b.start}
		for _, s := range b.sets {
			if lower := s.depth - max(0, level-int(b.start)); lower > 0 {
				s = newSet(s.appendCells(nil, s.begin, s.end, lower), s.begin, s.end, s.depth-lower)
			}
			c.sets = append(c.sets, s)
		}
		out.blocks = append(out.blocks, c)
	}
	return out
}

// Truncate is f with its first blocks only; all of them if it has no more. It panics if blocks is negative.
func (f *Filter) Truncate(blocks int) *Filter {
	if blocks < 0 {
		panic("summary: Truncate to fewer than no blocks")
	}
	return &Filter{seed: f.seed, blocks: f.blocks[:min(blocks, len(f.blocks))]}
}

// Sample is f where every block is known only in the first share of hash space, rounded down to whole cells; elsewhere
// it contains everything. It panics unless the share is from 0 to 1. O(n).
func (f *Filter) Sample(share float64) *Filter {
	if !(share >= 0 && share <= 1) {
		panic("summary: Sample of a share that is not from 0 to 1")
	}
	out := &Filter{seed: f.seed}
	for _, b := range f.blocks {
		c := band{start: b.start}
		limit := int(share * float64(int(1)<<b.start))
		for _, s := range b.sets {
			if s.begin >= limit {
				break
			}
			if s.end > limit {
				s = newSet(s.appendCells(nil, s.begin, limit, 0), s.begin, limit, s.depth)
			}
			c.sets = append(c.sets, s)
		}
		out.blocks = append(out.blocks, c)
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
		out.blocks = append(out.blocks, unite(a.blocks[i], b.blocks[i]))
	}
	return out, nil
}

// unite is the OR of two bands, in cells of the earlier start level.
func unite(a, b band) band {
	if a.start > b.start {
		a, b = b, a
	}
	out := band{start: a.start}
	finer := b.start - a.start
	for i, j := 0, 0; i < len(a.sets) && j < len(b.sets); {
		s, t := a.sets[i], b.sets[j]
		begin := max(s.begin, (t.begin+1<<finer-1)>>finer)
		end := min(s.end, t.end>>finer)
		if begin < end {
			depth := min(s.depth, t.depth+int(finer))
			v := s.appendCells(nil, begin, end, s.depth-depth)
			w := t.appendCells(nil, begin<<finer, end<<finer, t.depth+int(finer)-depth)
			out.sets = append(out.sets, newSet(merge(v, w), begin, end, depth))
		}
		if s.end<<finer <= t.end {
			i++
		} else {
			j++
		}
	}
	return out
}

// merge is the numbers that are in v or w, both sorted without duplicates.
func merge[T ~uint64](v, w []T) []T {
	out := make([]T, 0, len(v)+len(w))
	for len(v) > 0 && len(w) > 0 {
		a, b := v[0], w[0]
		out = append(out, min(a, b))
		if a <= b {
			v = v[1:]
		}
		if b <= a {
			w = w[1:]
		}
	}
	return append(append(out, v...), w...)
}
