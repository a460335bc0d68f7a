package summary

import (
	"math/bits"
	"sort"

	"github.com/venn-p2p/venn/summary/estimate"
)

// Comparison keeps how much of one's own collection each of many others holds, by their samples: the own nodes lie in
// an array of bits, and every sample's nodes are looked up there, which is the AND-merge of Papapetrou et al. (2010),
// section 5. A sample of the default size takes about 3 µs. When one of the others changes, only its sample is counted
// again; when the own collection has changed a little, only what changed is looked up in the samples.
//
// The zero value knows nobody. Others are small numbers that the caller gives them. Not safe for concurrent use.
type Comparison struct {
	own    *Prefix
	arrays map[int]*ownArray // by level
	others []compared
	memory walker
}

// compared is the counts of one of the others.
type compared struct {
	prefix *Prefix // nil: none
	nodes  int32   // of the sample; notCompared: it cannot be compared
	both   int32
}

const notCompared = -1

// sample is at which level the sample is counted, and of how many bits there.
func (o *compared) sample() (level, bits int) {
	t := o.prefix.tries[0]
	level = o.prefix.plan.steps[0].to
	return level, t.layout.sample << (level - int(t.start))
}

// ownArray is the own nodes of block 0 at a level, in the first part of hash space.
type ownArray struct {
	words []uint64
	ones  map[int]int // by a number of bits, the ones among the first of them
}

// SetOwn sets one's own summary, known to any depth; nil: none. The counts of all others are brought up to date.
func (c *Comparison) SetOwn(own *Prefix) {
	old := c.arrays
	c.own, c.arrays = own, map[int]*ownArray{}
	diffs := map[int][]ownChange{} // by level
	for i := range c.others {
		o := &c.others[i]
		if o.prefix == nil {
			continue
		}
		if o.nodes == notCompared || !c.comparable(o.prefix) {
			c.count(o, o.prefix)
			continue
		}
		level, _ := o.sample()
		before := old[level]
		if before == nil {
			c.count(o, o.prefix)
			continue
		}
		if diffs[level] == nil {
			diffs[level] = changes(before.words, c.array(level, 64*len(before.words)).words)
		}
		if !o.update(diffs[level]) {
			c.count(o, o.prefix)
		}
	}
}

// ownChange is an own node that came or went.
type ownChange struct {
	node uint64
	sign int // 1: it came; -1: it went
}

// changes is how one array becomes another at least as long, in order; not nil.
func changes(before, after []uint64) []ownChange {
	out := []ownChange{}
	for i, was := range before {
		for diff := after[i] ^ was; diff != 0; diff &= diff - 1 {
			bit := bits.TrailingZeros64(diff)
			out = append(out, ownChange{uint64(64*i + bit), 2*int(after[i]>>bit&1) - 1})
		}
	}
	return out
}

// Set makes a prefix that of one of the others; nil removes it. A longer or shorter prefix of an epoch costs nothing:
// the sample is the same.
func (c *Comparison) Set(other int, p *Prefix) {
	for len(c.others) <= other {
		c.others = append(c.others, compared{})
	}
	o := &c.others[other]
	if p != nil && o.prefix != nil && p.header.Chain == o.prefix.header.Chain && p.Parts() > 0 {
		o.prefix = p
		return
	}
	c.count(o, p)
}

// Overlap is what the samples say of the own collection, the first, and another's; false when they say nothing:
// without a sample, or where the own summary is not as deep as it. The interval is the normal one, of the given
// confidence: for few keys EstimateOverlap has a better one, and it uses all that is known.
func (c *Comparison) Overlap(other int, confidence float64) (Overlap, bool) {
	if c.own == nil || other >= len(c.others) || c.others[other].prefix == nil || c.others[other].nodes == notCompared {
		return Overlap{}, false
	}
	o := &c.others[other]
	level, bits := o.sample()
	counts := estimate.Counts{First: c.array(level, bits).count(bits), Second: int(o.nodes), Both: int(o.both)}
	n1, n2 := float64(c.own.header.N), float64(o.prefix.header.N)
	i, err := estimate.Array{Bits: 1 << level, Sample: uint64(bits)}.IntersectionKnown(counts, n1, n2, confidence)
	if err != nil || i.Saturated {
		return Overlap{}, false
	}
	return newOverlap(n1, n2, i, "own keys against the sample"), true
}

// comparable says whether p opens with a sample, and whether the own summary is known as deep there.
func (c *Comparison) comparable(p *Prefix) bool {
	if c.own == nil || p == nil || len(p.tries) == 0 || len(c.own.tries) == 0 || p.header.Seed != c.own.header.Seed {
		return false
	}
	s := &p.plan.steps[0]
	if !s.sample {
		return false
	}
	limit, end := uint64(p.tries[0].layout.sample)<<(32-p.tries[0].start), uint64(0)
	for _, r := range c.own.Known(0) {
		if r.Begin != end || r.Level < s.to {
			break
		}
		end = r.End
	}
	return end >= limit
}

// count counts a sample from the beginning.
func (c *Comparison) count(o *compared, p *Prefix) {
	*o = compared{prefix: p, nodes: notCompared}
	if !c.comparable(p) {
		return
	}
	o.nodes = 0
	level, size := o.sample()
	words := c.array(level, size).words
	w := &c.memory
	w.reset(p.tries[0], piece{0, uint64(size)}, level)
	for nodes := w.next(); nodes != nil; nodes = w.next() {
		o.nodes += int32(len(nodes))
		for _, v := range nodes {
			o.both += int32(words[v/64] >> (v % 64) & 1)
		}
	}
}

// update looks up the own nodes that went or came in a sample. It returns false when counting is faster.
func (o *compared) update(diff []ownChange) bool {
	level, size := o.sample()
	end := sort.Search(len(diff), func(i int) bool { return diff[i].node >= uint64(size) })
	if 16*end > int(o.nodes) {
		return false
	}
	for _, d := range diff[:end] {
		if o.prefix.tries[0].has(d.node, level) {
			o.both += int32(d.sign)
		}
	}
	return true
}

// has reports whether t, known there at least as deep, has a node of a level, or one below it.
func (t *trie) has(node uint64, level int) bool {
	s := t.find(int(node >> (level - int(t.start))))
	return s != nil && s.has(node, s.level(t.start)-level)
}

// has reports whether s has a node below the given one, which is lower levels above those of s, and not above its
// cells.
func (s *set) has(node uint64, lower int) bool {
	depth := s.depth - lower
	cell := int(node>>depth) - s.begin
	low := node & (1<<depth - 1)
	for at := s.cellStart(cell); at/64 < len(s.unary) && s.unary[at/64]>>(at%64)&1 == 1; at++ {
		if s.lowBits(at-cell)>>lower == low {
			return true
		}
	}
	return false
}

// array is the own nodes of a level in at least the first size bits.
func (c *Comparison) array(level, size int) *ownArray {
	a := c.arrays[level]
	if a != nil && 64*len(a.words) >= size {
		return a
	}
	a = &ownArray{words: make([]uint64, (size+63)/64), ones: map[int]int{}}
	w := &c.memory
	w.reset(c.own.tries[0], piece{0, uint64(size)}, level)
	for nodes := w.next(); nodes != nil; nodes = w.next() {
		for _, v := range nodes {
			a.words[v/64] |= 1 << (v % 64)
		}
	}
	c.arrays[level] = a
	return a
}

// count is the ones in the first size bits.
func (a *ownArray) count(size int) int {
	n, known := a.ones[size]
	if known {
		return n
	}
	for _, w := range a.words[:size/64] {
		n += bits.OnesCount64(w)
	}
	if rest := size % 64; rest > 0 {
		n += bits.OnesCount64(a.words[size/64] << (64 - rest))
	}
	a.ones[size] = n
	return n
}

// SizeBytes is about the bytes that c takes, without the prefixes.
func (c *Comparison) SizeBytes() int {
	size := 16*cap(c.others) + 8*chunk
	for _, a := range c.arrays {
		size += 8*len(a.words) + 32*len(a.ones)
	}
	return size
}
