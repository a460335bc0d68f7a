package trie

// Walker goes through the nodes of a block at a level, in order. The zero value has no nodes.
type Walker struct {
	span   Span
	level  int
	start  uint8
	pieces []Piece // pieces not yet opened
	nodes  cursor
	left   int    // nodes left of the open piece
	lower  int    // levels from the nodes up to the walker's level
	whole  bool   // all nodes of the open piece lie in the span
	last   uint64 // the last node returned
	buffer [chunk]uint64
}

// Reset goes to the first node of a span at a level. The level must not be deeper than any level that b knows there. It
// allocates nothing.
func (w *Walker) Reset(b *Block, span Span, level int) {
	w.span, w.level, w.start, w.pieces = span, level, b.Start, b.pieces
	w.left, w.last = 0, ^uint64(0)
}

// Next returns the next nodes, a chunk or fewer at a time; nil at the end. They are valid until the next call.
func (w *Walker) Next() []uint64 {
	for w.left > 0 || w.open() {
		nodes := w.buffer[:w.nodes.fill(w.buffer[:min(chunk, w.left)])]
		w.left -= len(nodes)
		if nodes = w.fold(nodes); len(nodes) > 0 {
			return nodes
		}
	}
	return nil
}

// CountIn walks to the end. It returns the number of nodes, and the number of nodes whose bits are set in words. Bit
// i%64 of word i/64 is the bit of node i. O(nodes).
func (w *Walker) CountIn(words []uint64) (nodes, both int) {
	for w.left > 0 || w.open() {
		if w.lower == 0 && w.whole {
			both += w.nodes.countIn(words, w.left)
			nodes += w.left
			w.left = 0
			continue
		}
		list := w.buffer[:w.nodes.fill(w.buffer[:min(chunk, w.left)])]
		w.left -= len(list)
		list = w.fold(list)
		nodes += len(list)
		for _, v := range list {
			both += int(words[v/64] >> (v % 64) & 1)
		}
	}
	return nodes, both
}

// open opens the next piece that has nodes in the span. It returns false if there is none.
func (w *Walker) open() bool {
	up := w.level - int(w.start)
	for len(w.pieces) > 0 {
		p := w.pieces[0]
		w.pieces = w.pieces[1:]
		begin, end := p.Begin, p.End
		if up >= 0 {
			begin, end = max(begin, int(w.span.Begin>>up)), min(end, int((w.span.End+1<<up-1)>>up))
		} else {
			begin, end = max(begin, int(w.span.Begin<<-up)), min(end, int(w.span.End<<-up))
		}
		if begin >= end {
			continue
		}
		if count := p.Set.countCells(begin, end); count > 0 {
			w.whole = up >= 0 && uint64(begin)<<up >= w.span.Begin && uint64(end)<<up <= w.span.End
			w.nodes, w.left, w.lower = p.Set.from(begin), count, p.Set.Depth()-up
			return true
		}
	}
	return false
}

// fold replaces nodes by their ancestors at the walker's level, in place, and drops those outside the span.
func (w *Walker) fold(nodes []uint64) []uint64 {
	if w.lower > 0 {
		nodes, w.last = appendLowered(nodes[:0], nodes, w.lower, w.last)
	}
	for len(nodes) > 0 && nodes[0] < w.span.Begin {
		nodes = nodes[1:]
	}
	for len(nodes) > 0 && nodes[len(nodes)-1] >= w.span.End {
		nodes = nodes[:len(nodes)-1]
	}
	return nodes
}
