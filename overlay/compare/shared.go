package compare

import (
	"math"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// Few holds the first nodes of a prefix's sample, to look up in other prefixes. The zero value compares with nothing.
type Few struct {
	prefix *summary.Prefix
	level  int
	nodes  []uint64
}

// FewOf returns the first nodes of a prefix's sample, at most the given number. O(number).
func FewOf(p *summary.Prefix, number int) Few {
	s, ok := inside.Sample(p)
	if !ok || p.Parts() == 0 {
		return Few{}
	}
	f := Few{prefix: p, level: s.Level}
	var n inside.Walker
	n.Reset(p, 0, s.Level, 0, s.End)
	for nodes := n.Next(); nodes != nil && len(f.nodes) < number; nodes = n.Next() {
		f.nodes = append(f.nodes, nodes[:min(len(nodes), number-len(f.nodes))]...)
	}
	return f
}

// In estimates the share of the prefix's keys that are in another prefix, of any size and depth, from 0 to 1. It
// returns false if f is empty, the seeds differ, or other is not known where f's nodes lie. The standard deviation for
// n nodes is below .5/√n, more where little is known of other. O(n), plus other's nodes in the same part of hash space.
func (f Few) In(other *summary.Prefix) (share float64, ok bool) {
	if len(f.nodes) == 0 || other.Header().Seed != f.prefix.Header().Seed {
		return 0, false
	}
	level, known, last := f.level, uint64(0), f.nodes[len(f.nodes)-1]
	end := func() uint64 { return space(level, int(last>>(f.level-level))+1) }
	for _, r := range inside.Known(other, 0) {
		if r.Begin != known || known >= end() {
			break
		}
		level, known = min(level, r.Level), r.End
	}
	if known < end() {
		return 0, false
	}
	hits, all, before := 0, 0, ^uint64(0)
	var w inside.Walker
	w.Reset(other, 0, level, 0, end())
	theirs := w.Next()
	for _, v := range f.nodes {
		if v >>= f.level - level; v == before {
			continue
		}
		before = v
		all++
		for len(theirs) > 0 && theirs[0] < v {
			if theirs = theirs[1:]; len(theirs) == 0 {
				theirs = w.Next()
			}
		}
		if len(theirs) > 0 && theirs[0] == v {
			hits++
		}
	}
	// chance is the probability that a node of other is set without a key in both.
	chance := -math.Expm1(-float64(other.Header().N) / math.Exp2(float64(level)))
	return min(1, max(0, (float64(hits)/float64(all)-chance)/max(1e-9, 1-chance))), true
}
