package compare

import (
	"math"
	"slices"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/summary/inside"
)

// Sample is the sample that a prefix opens with, for comparing it with many collections. It is immutable. The zero
// value compares with nothing.
type Sample struct {
	prefix *summary.Prefix
	nodes  []uint32 // nil: not decoded
}

// SampleOf returns the sample of a prefix, to be decoded at each use. It takes no memory of its own.
func SampleOf(p *summary.Prefix) Sample { return Sample{prefix: p} }

// Decode returns the decoded sample of a prefix. It takes 4 bytes a node. A sample with too many nodes for 4-byte
// numbers stays encoded.
func Decode(p *summary.Prefix) Sample {
	s := Sample{prefix: p}
	if _, ok := inside.Sample(p); !ok || p.Parts() == 0 {
		return s
	}
	o := compared{prefix: p}
	level, size := o.sample()
	if uint64(size) > math.MaxUint32 {
		return s
	}
	var n inside.Walker
	n.Reset(p, 0, level, 0, space(level, size))
	for nodes := n.Next(); nodes != nil; nodes = n.Next() {
		for _, v := range nodes {
			s.nodes = append(s.nodes, uint32(v))
		}
	}
	s.nodes = slices.Clip(s.nodes)
	return s
}

// Is reports whether s is the sample of p. Prefixes of one chain have the same sample.
func (s Sample) Is(p *summary.Prefix) bool {
	return s.prefix == p || s.prefix != nil && s.prefix.Header().Chain == p.Header().Chain
}

// With does what [Samples.Common] does, for a sample that belongs to none of the others.
func (c *Samples) With(s Sample, confidence float64) (estimate.Interval, bool) {
	if !c.comparable(s.prefix) {
		return estimate.Interval{}, false
	}
	o := compared{prefix: s.prefix}
	if s.nodes == nil {
		c.count(&o, s.prefix)
		return c.estimate(&o, confidence)
	}
	words := c.upTo(o.sample()).words
	for _, v := range s.nodes {
		o.both += int32(words[v/64] >> (v % 64) & 1)
	}
	o.nodes = int32(len(s.nodes))
	return c.estimate(&o, confidence)
}
