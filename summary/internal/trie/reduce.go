package trie

import "slices"

// Merge appends the union of two sorted lists to dst, in order, each element once.
func Merge(dst, v, w []uint64) []uint64 {
	out := slices.Grow(dst, len(v)+len(w))
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

// Common returns the regions that both blocks know, each at the lower of their two levels. It also returns the higher
// of their start levels; the regions are in cells of that level.
func Common(a, b *Block) (regions []Region, start uint8) {
	start = max(a.Start, b.Start)
	for i, j := 0, 0; i < len(a.pieces) && j < len(b.pieces); {
		p, q := a.pieces[i], b.pieces[j]
		up, down := start-a.Start, start-b.Start
		begin, end := max(p.Begin<<up, q.Begin<<down), min(p.End<<up, q.End<<down)
		if begin < end {
			regions = append(regions, Region{begin, end, min(a.level(p.Set), b.level(q.Set))})
		}
		if p.End<<up <= end {
			i++
		}
		if q.End<<down <= end {
			j++
		}
	}
	return regions, start
}
