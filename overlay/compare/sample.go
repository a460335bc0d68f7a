package compare

import (
	"crypto/sha256"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// Sample is the sample that a prefix opens with: for those who compare it with one collection after another. It is
// immutable; the zero value compares with nothing.
type Sample struct {
	prefix *summary.Prefix
	nodes  []uint64 // nil: not decoded
}

// SampleOf is the sample of a prefix, decoded at every use. It takes no memory of its own.
func SampleOf(p *summary.Prefix) Sample { return Sample{prefix: p} }

// Decode is the sample of a prefix, decoded. It takes 8 bytes a node.
func Decode(p *summary.Prefix) Sample {
	s := Sample{prefix: p}
	if _, ok := p.Sample(); !ok || p.Parts() == 0 {
		return s
	}
	o := compared{prefix: p}
	level, size := o.sample()
	var n summary.Nodes
	n.Reset(p, 0, level, 0, space(level, size))
	for nodes := n.Next(); nodes != nil; nodes = n.Next() {
		s.nodes = append(s.nodes, nodes...)
	}
	return s
}

// Chain names what s is the sample of: prefixes of the same chain have the same sample.
func (s Sample) Chain() [sha256.Size]byte {
	if s.prefix == nil {
		return [sha256.Size]byte{}
	}
	return s.prefix.Header().Chain
}

// With is what [Samples.Overlap] says of one of the others, for a sample that is none of them.
func (c *Samples) With(s Sample, confidence float64) (estimate.Interval, bool) {
	if !c.comparable(s.prefix) {
		return estimate.Interval{}, false
	}
	o := compared{prefix: s.prefix}
	if s.nodes == nil {
		c.count(&o, s.prefix)
		return c.estimate(&o, confidence)
	}
	words := c.array(o.sample()).words
	for _, v := range s.nodes {
		o.both += int32(words[v/64] >> (v % 64) & 1)
	}
	o.nodes = int32(len(s.nodes))
	return c.estimate(&o, confidence)
}
