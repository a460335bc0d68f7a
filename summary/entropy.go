package summary

import "math"

// Entropy is the least number of bits that can encode what p knows. For every block and level it is m H(t/m), for t
// nodes known among m possible ones. It is 0 when nothing is known, and the entropy of the deepest levels when no part
// is missing. O(pieces).
func (p *Prefix) Entropy() float64 {
	bits := 0.0
	for _, t := range p.tries {
		nodes, places := map[int]float64{}, map[int]float64{}
		for _, p := range t.Pieces() {
			nodes[p.Set.Depth] += float64(p.Count())
			places[p.Set.Depth] += math.Ldexp(float64(p.End-p.Begin), p.Set.Depth)
		}
		for depth := range maxLevel + 1 { // in order, so that the sum is the same each time
			bits += arrayEntropy(nodes[depth], places[depth])
		}
	}
	return bits
}

// arrayEntropy is m H(t/m), the entropy of an array of m bits with t ones.
func arrayEntropy(t, m float64) float64 {
	if t <= 0 || t >= m {
		return 0
	}
	return float64(t*math.Log2(m/t)) - float64((m-t)*math.Log1p(-t/m)/math.Ln2)
}
