// Package compare estimates the part of our collection that each of many peers holds, from the samples that their
// summaries begin with, by the AND-merge of Papapetrou, Siberski and Nejdl 2010, section 5.
//
// The caller chooses the confidence of an estimate's interval. A new sample costs some 3 µs, an estimate a few
// logarithms. When our own summary changes, all samples are counted again.
package compare

import (
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/summary/inside"
)

// Samples counts the part of our collection that each of many peers holds, by their samples. An array of bits marks
// our own nodes, and the nodes of every sample are looked up there: the AND-merge of Papapetrou et al. (2010),
// section 5. A sample of the default size takes about 3 µs. When another peer's prefix changes, only its sample is
// counted again. When our own summary changes, all samples are.
//
// The zero value knows no peer. The caller numbers the others with small numbers, from 0 on. It is not safe for
// concurrent use.
type Samples struct {
	own    *summary.Prefix
	levels []ownLevel // our nodes at the levels that were needed so far; samples have few levels
	others []compared
}

// compared holds the counts of one other peer.
type compared struct {
	prefix *summary.Prefix // the peer's prefix; nil: none is set
	nodes  int32           // number of nodes in the sample; notCompared: the sample cannot be compared
	both   int32
}

const notCompared = -1

// sample returns the level at which a sample is counted, and the sample's number of bits at that level.
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
	words []uint64 // bit v is set if node v is ours; the words cover the first part of hash space
}

// SetOwn sets our own summary, of any depth; nil removes it. It counts the samples of all other peers again.
func (c *Samples) SetOwn(own *summary.Prefix) {
	c.own, c.levels = own, nil
	for i := range c.others {
		if o := &c.others[i]; o.prefix != nil {
			c.count(o, o.prefix)
		}
	}
}

// Set sets another peer's prefix; nil removes it. Replacing it by a longer or shorter prefix of the same epoch costs
// nothing, because the sample is the same.
func (c *Samples) Set(other int, p *summary.Prefix) {
	for len(c.others) <= other { // grows by an eighth, so that little stands empty
		c.others = slices.Concat(c.others, make([]compared, 8+len(c.others)/8))
	}
	o := &c.others[other]
	if p != nil && o.prefix != nil && p.Header().Chain == o.prefix.Header().Chain && min(p.Parts(), o.prefix.Parts()) > 0 {
		o.prefix = p
		return
	}
	c.count(o, p)
}

// Common estimates from the samples the number of keys that are in our collection and in another peer's. It returns
// false without a sample, or if our summary is known less deeply than the sample. The interval is the normal one, of
// the given confidence. For few keys [summary.EstimateOverlap] has a better interval, and it uses all parts held.
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

// comparable reports whether p begins with a sample, and whether our summary is known as deeply as that sample.
func (c *Samples) comparable(p *summary.Prefix) bool {
	if c.own == nil || p == nil || c.own.Parts() == 0 || p.Header().Seed != c.own.Header().Seed {
		return false
	}
	s, ok := inside.Sample(p)
	return ok && c.at(s.Level).end >= s.End
}

// at returns our nodes of a level. The result is valid until at is called for another level.
func (c *Samples) at(level int) *ownLevel {
	for i := range c.levels {
		if l := &c.levels[i]; l.level == level {
			return l
		}
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

// count counts into o the nodes of p's sample, and the nodes among them that are ours, too. o.nodes is notCompared if p
// cannot be compared.
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

// space returns the extent in hash space of the first nodes of a level, in units of [inside.Region].
func space(level, nodes int) uint64 {
	if level > 32 {
		return uint64(nodes) >> (level - 32)
	}
	return uint64(nodes) << (32 - level)
}

// upTo returns our nodes of a level, in at least its first size bits.
func (c *Samples) upTo(level, size int) *ownLevel {
	l := c.at(level)
	have := 64 * len(l.words)
	if have >= size {
		return l
	}
	if have > 0 {
		size = max(size, min(have*3/2, 1<<level)) // with bits to spare: samples of all sizes come
	}
	l.words = make([]uint64, (size+63)/64)
	var n inside.Walker // up to the end of what is known at this level: beyond it nodes are of another
	n.Reset(c.own, 0, level, 0, min(space(level, 64*len(l.words)), l.end))
	for nodes := n.Next(); nodes != nil; nodes = n.Next() {
		for _, v := range nodes {
			l.words[v/64] |= 1 << (v % 64)
		}
	}
	return l
}

// count returns the number of ones in the first size bits.
func (l *ownLevel) count(size int) (n int) {
	for i, w := range l.words[:(size+63)/64] {
		if rest := size - 64*i; rest < 64 {
			w <<= 64 - rest
		}
		n += bits.OnesCount64(w)
	}
	return n
}

// SizeBytes returns the approximate number of bytes that c takes, without the prefixes. O(levels of samples); there
// are few levels.
func (c *Samples) SizeBytes() int {
	n := 16*cap(c.others) + 1<<11
	for i := range c.levels {
		n += 8 * len(c.levels[i].words)
	}
	return n
}
