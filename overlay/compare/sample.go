package compare

import (
	"math"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/summary/inside"
)

// decode returns the nodes of a prefix's sample. It returns none without a sample, or if the number of a node does
// not fit into 4 bytes.
func decode(p *summary.Prefix) (nodes []uint32) {
	if _, ok := inside.Sample(p); !ok || p.Parts() == 0 {
		return nil
	}
	level, size := (&compared{prefix: p}).sample()
	if uint64(size) > math.MaxUint32 {
		return nil
	}
	var n inside.Walker
	n.Reset(p, 0, level, 0, space(level, size))
	for some := n.Next(); some != nil; some = n.Next() {
		for _, v := range some {
			nodes = append(nodes, uint32(v))
		}
	}
	return nodes
}

// With does what [Samples.Common] does, for a prefix that is not set for any peer. It returns false for nil.
func (c *Samples) With(p *summary.Prefix, confidence float64) (estimate.Interval, bool) {
	if !c.comparable(p) {
		return estimate.Interval{}, false
	}
	o := compared{prefix: p}
	c.count(&o, p)
	return c.estimate(&o, confidence)
}
