package papers

import (
	"math"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// StreamEntropy returns the least number of bits that can encode what p knows. For every block and level it adds
// m·H(t/m), for t nodes known among m possible ones. The result is 0 when nothing is known. When no part is missing,
// it is the entropy of the deepest levels. O(n).
func StreamEntropy(p *summary.Prefix) float64 {
	bits := 0.0
	var walk inside.Walker
	for block := range p.Header().Shape.Levels {
		var nodes, places [summary.FingerprintBits + 1]float64 // known nodes and possible ones, by level
		for _, r := range inside.Known(p, block) {
			places[r.Level] += math.Ldexp(float64(r.End-r.Begin), r.Level-32)
			walk.Reset(p, block, r.Level, r.Begin, r.End)
			for some := walk.Next(); some != nil; some = walk.Next() {
				nodes[r.Level] += float64(len(some))
			}
		}
		for level, m := range places {
			if m > 0 {
				bits += float64(m * Entropy(nodes[level]/m))
			}
		}
	}
	return bits
}
