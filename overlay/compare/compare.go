// Package compare estimates the part of our collection that each of many peers holds, from the samples that their
// summaries begin with.
package compare

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/summary/inside"
)

// Samples counts the part of our collection that each of many peers holds, by their samples. Our own nodes lie in an
// array of bits, and the nodes of every sample are looked up there: the AND-merge of Papapetrou et al. (2010), section
// 5. A sample of the default size takes about 3 µs. When another peer changes, only its sample is counted again. When
// our collection changes a little, only the changed nodes are looked up.
//
// The zero value knows no peer. The caller numbers the others, from 0 in small numbers. Not safe for concurrent use.
type Samples struct {
	own    *summary.Prefix
	levels []ownLevel // the levels asked for; samples have few
	others []compared
}

// compared holds the counts of one other peer.
type compared struct {
	prefix *summary.Prefix // nil: none
	nodes  int32           // nodes in the sample; notCompared: it cannot be compared
	both   int32
}

const notCompared = -1

// sample returns the level at which a sample is counted, and its number of bits there.
func (o *compared) sample() (level, bits int) {
	r, _ := inside.Sample(o.prefix)
	if r.Level > 32 {
		return r.Level, int(r.End << (r.Level - 32))
	}
	return r.Level, int(r.End >> (32 - r.Level))
}

// ownLevel holds our nodes of block 0 at one level.
type ownLevel struct {
	level int
	end   uint64   // end of the known hash space
	words []uint64 // our nodes in the first part of hash space
	ones  []uint32 // ones before each onesEach-th word
}

// onesEach is the number of words between two entries of ownLevel.ones.
const onesEach = 8

// SetOwn sets our own summary, of any depth; nil: none. It brings the counts of all others up to date.
func (c *Samples) SetOwn(own *summary.Prefix) {
	old := Samples{levels: c.levels}
	c.own, c.levels = own, nil
	diffs := map[int]ownDiff{} // by level
	for i := range c.others {
		o := &c.others[i]
		if o.prefix == nil {
			continue
		}
		if o.nodes == notCompared || !c.comparable(o.prefix) {
			c.count(o, o.prefix)
			continue
		}
		level, size := o.sample()
		before, words := old.find(level), (size+63)/64
		if before == nil || len(before.words) < words {
			c.count(o, o.prefix)
			continue
		}
		if diffs[level].words < words { // computed once a level, as far as our summary is known
			diffs[level] = ownDiff{changes(before.words[:words], c.upTo(level, size).words), words}
		}
		if !c.update(o, diffs[level].changes) {
			c.count(o, o.prefix)
		}
	}
}

// ownChange is an own node that was added or removed.
type ownChange struct {
	node uint64
	sign int // 1: added; -1: removed
}

// ownDiff lists the changes of our nodes of a level, in its first words.
type ownDiff struct {
	changes []ownChange
	words   int
}

// changes returns the nodes in which after differs from before, in order; never nil. after is at least as long.
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

// Set sets another peer's prefix; nil removes it. A longer or shorter prefix of an epoch costs nothing, because its
// sample is the same.
func (c *Samples) Set(other int, p *summary.Prefix) {
	for len(c.others) <= other { // by an eighth, so that little stands empty
		c.others = slices.Concat(c.others, make([]compared, 8+len(c.others)/8))
	}
	o := &c.others[other]
	if p != nil && o.prefix != nil && p.Header().Chain == o.prefix.Header().Chain && min(p.Parts(), o.prefix.Parts()) > 0 {
		o.prefix = p
		return
	}
	c.count(o, p)
}

// Common estimates from the samples the number of keys that our collection and another's share. It returns false
// without a sample, or if our summary is less deep than the sample. The interval is the normal one, of the given
// confidence. For few keys [summary.EstimateOverlap] has a better one, and it uses all parts held.
func (c *Samples) Common(other int, confidence float64) (estimate.Interval, bool) {
	if c.own == nil || other >= len(c.others) || c.others[other].prefix == nil || c.others[other].nodes == notCompared {
		return estimate.Interval{}, false
	}
	return c.estimate(&c.others[other], confidence)
}

// estimate turns the counts of another peer into an interval.
func (c *Samples) estimate(o *compared, confidence float64) (estimate.Interval, bool) {
	level, bits := o.sample()
	counts := estimate.Counts{First: c.upTo(level, bits).count(bits), Second: int(o.nodes), Both: int(o.both)}
	n1, n2 := float64(c.own.Plan().N), float64(o.prefix.Plan().N)
	i, err := estimate.Array{Bits: 1 << level, Sample: uint64(bits)}.EstimateIntersection(counts, n1, n2, confidence)
	return i, err == nil && !i.Saturated
}

// comparable reports whether p opens with a sample, and our summary is known as deep as the sample.
func (c *Samples) comparable(p *summary.Prefix) bool {
	if c.own == nil || p == nil || c.own.Parts() == 0 || p.Header().Seed != c.own.Header().Seed {
		return false
	}
	s, ok := inside.Sample(p)
	return ok && c.at(s.Level).end >= s.End
}

// find returns our nodes of a level; nil if they are not kept. It is valid until another level is asked for.
func (c *Samples) find(level int) *ownLevel {
	for i := range c.levels {
		if l := &c.levels[i]; l.level == level {
			return l
		}
	}
	return nil
}

// at returns our nodes of a level. It is valid until another level is asked for.
func (c *Samples) at(level int) *ownLevel {
	if l := c.find(level); l != nil {
		return l
	}
	l := ownLevel{level: level}
	for _, r := range inside.Known(c.own, 0) {
		if r.Begin != l.end || r.Level < level {
			break
		}
		l.end = r.End
	}
	c.levels = append(c.levels, l)
	return &c.levels[len(c.levels)-1]
}

// count counts the whole sample of p.
func (c *Samples) count(o *compared, p *summary.Prefix) {
	*o = compared{prefix: p, nodes: notCompared}
	if !c.comparable(p) {
		return
	}
	level, size := o.sample()
	words := c.upTo(level, size).words
	var n inside.Walker
	n.Reset(p, 0, level, 0, space(level, size))
	nodes, both := n.CountIn(words)
	o.nodes, o.both = int32(nodes), int32(both)
}

// space returns the extent of the first nodes of a level in hash space, in the units of [inside.Region].
func space(level, nodes int) uint64 {
	if level > 32 {
		return uint64(nodes) >> (level - 32)
	}
	return uint64(nodes) << (32 - level)
}

// update looks up our added and removed nodes in a sample. It returns false if counting the whole sample is faster.
func (c *Samples) update(o *compared, diff []ownChange) bool {
	level, size := o.sample()
	end := sort.Search(len(diff), func(i int) bool { return diff[i].node >= uint64(size) })
	if 16*end > int(o.nodes) {
		return false
	}
	for _, d := range diff[:end] {
		if inside.Has(o.prefix, 0, level, d.node) {
			o.both += int32(d.sign)
		}
	}
	return true
}

// upTo returns a level with our nodes in at least its first size bits.
func (c *Samples) upTo(level, size int) *ownLevel {
	l := c.at(level)
	have := 64 * len(l.words)
	if have >= size {
		return l
	}
	if have > 0 {
		size = max(size, min(have*3/2, 1<<level)) // with room to spare: samples of all sizes come
	}
	l.words = make([]uint64, (size+63)/64)
	l.ones = make([]uint32, (len(l.words)+onesEach-1)/onesEach)
	var n inside.Walker
	n.Reset(c.own, 0, level, 0, space(level, 64*len(l.words)))
	for nodes := n.Next(); nodes != nil; nodes = n.Next() {
		for _, v := range nodes {
			l.words[v/64] |= 1 << (v % 64)
		}
	}
	for i := range l.ones[1:] {
		l.ones[i+1] = l.ones[i] + uint32(onesIn(l.words[i*onesEach:(i+1)*onesEach]))
	}
	return l
}

// onesIn returns the number of ones in some words.
func onesIn(words []uint64) int {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// count returns the number of ones in the first size bits. O(1).
func (l *ownLevel) count(size int) int {
	if size == 0 {
		return 0
	}
	word, rest := size/64, size%64
	if word == len(l.words) { // so rest is 0
		word, rest = word-1, 64
	}
	first := word / onesEach
	return int(l.ones[first]) + onesIn(l.words[first*onesEach:word]) + bits.OnesCount64(l.words[word]<<(64-rest))
}

// SizeBytes returns the approximate number of bytes that c takes, without the prefixes. O(levels of samples), which are
// few.
func (c *Samples) SizeBytes() int {
	n := 16*cap(c.others) + 1<<11
	for i := range c.levels {
		n += 8*len(c.levels[i].words) + 4*len(c.levels[i].ones)
	}
	return n
}
