package trie

// Fold is b with no set deeper than a level, nor above the cells. O(nodes).
func (b *Block) Fold(level int) *Block {
	out := &Block{Start: b.Start}
	for _, p := range b.pieces {
		if lower := p.Set.Depth() - max(0, level-int(b.Start)); lower > 0 {
			p.Set = NewSet(p.Set.appendCells(nil, p.Begin, p.End, lower), p.Begin, p.End, p.Set.Depth()-lower)
		}
		out.pieces = append(out.pieces, p)
	}
	return out
}

// Union is the OR of two blocks, in cells of the earlier start level: known where both are, at the lower of their
// levels. O(nodes).
func Union(a, b *Block) *Block {
	if a.Start > b.Start {
		a, b = b, a
	}
	out := &Block{Start: a.Start}
	finer := b.Start - a.Start
	for i, j := 0, 0; i < len(a.pieces) && j < len(b.pieces); {
		p, q := a.pieces[i], b.pieces[j]
		begin := max(p.Begin, (q.Begin+1<<finer-1)>>finer)
		end := min(p.End, q.End>>finer)
		if begin < end {
			level := min(a.level(p.Set), b.level(q.Set))
			v := p.Set.appendCells(nil, begin, end, a.level(p.Set)-level)
			w := q.Set.appendCells(nil, begin<<finer, end<<finer, b.level(q.Set)-level)
			set := NewSet(Merge(v, w), begin, end, level-int(a.Start))
			out.pieces = append(out.pieces, Piece{set, begin, end})
		}
		if p.End<<finer <= q.End {
			i++
		} else {
			j++
		}
	}
	return out
}

// Merge is the nodes that are in v or w, both sorted without doubles.
func Merge(v, w []uint64) []uint64 {
	out := make([]uint64, 0, len(v)+len(w))
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

// Common is the regions that two blocks both know, in cells of the later start level, which is returned, at the lower
// of their levels.
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
