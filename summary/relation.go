package summary

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// relation codes a trie's nodes at a level, given the nodes of a base at the same level. Its parents are nodes that the
// receiver knows some levels above: each has at least one of the coded nodes below it. Its lists are in memory of the
// workspace.
type relation struct {
	anywhere bool      // nothing is known above: the nodes may be anywhere in a span
	in       trie.Span // the span in which the nodes may lie, if anywhere
	parents  []uint64  // the nodes known above
	deeper   int       // levels from the parents to the nodes
	base     []uint64  // nodes of the base; those below no parent are left out
	*workspace
}

func newRelation(w *workspace, parents []uint64, start uint8, s segment, base []uint64) relation {
	if s.from == unknownLevel {
		return relation{anywhere: true, in: s.room(start), base: base, workspace: w}
	}
	r := relation{parents: parents, deeper: s.given - s.from, base: base[:0], workspace: w}
	c := cousins{parents: parents, deeper: r.deeper}
	for _, v := range base {
		if c.find(v) >= 0 {
			r.base = append(r.base, v)
		}
	}
	return r
}

// free gives the lists' memory back.
func (r *relation) free() {
	r.give(r.parents)
	r.give(r.base)
}

// cousins finds the parents of nodes. Both lists are sorted, and nodes are looked up in order.
type cousins struct {
	parents []uint64
	deeper  int
	next    int
}

// find returns the index of a node's parent in parents, -1 if it has none there.
func (c *cousins) find(node uint64) int {
	parent := node >> c.deeper
	for c.next < len(c.parents) && c.parents[c.next] < parent {
		c.next++
	}
	if c.next < len(c.parents) && c.parents[c.next] == parent {
		return c.next
	}
	return -1
}

// split divides the parents: some have below them a node of the base that is not gone, the others have none.
func (r *relation) split(gone []uint64) (some, others []uint64) {
	if r.anywhere {
		return nil, nil
	}
	some, others = r.take(), r.take()
	next := 0
	for _, p := range r.parents {
		kept := false
		for ; next < len(r.base) && r.base[next]>>r.deeper <= p; next++ {
			kept = kept || gone[next/64]>>(next%64)&1 == 0
		}
		if kept {
			some = append(some, p)
		} else {
			others = append(others, p)
		}
	}
	return some, others
}

// room returns the number of places for nodes below parents.
func (r *relation) room(parents []uint64) uint64 {
	if r.anywhere {
		return r.in.End - r.in.Begin
	}
	return uint64(len(parents)) << r.deeper
}

// number replaces each node below a parent by the number of its place, from 0 to room(parents)-1, in the memory of
// nodes. It returns the other nodes, too.
func (r *relation) number(nodes, parents []uint64) (numbers, others []uint64) {
	if r.anywhere {
		for i := range nodes {
			nodes[i] -= r.in.Begin
		}
		return nodes, nil
	}
	c := cousins{parents: parents, deeper: r.deeper}
	numbers, others = nodes[:0], r.take()
	for _, v := range nodes {
		if i := c.find(v); i >= 0 {
			numbers = append(numbers, uint64(i)<<r.deeper|v&(1<<r.deeper-1))
		} else {
			others = append(others, v)
		}
	}
	return numbers, others
}

// unnumber is the inverse of number: it replaces the numbers of places by the nodes there.
func (r *relation) unnumber(numbers, parents []uint64) {
	for i, v := range numbers {
		if r.anywhere {
			numbers[i] = v + r.in.Begin
		} else {
			numbers[i] = parents[v>>r.deeper]<<r.deeper | v&(1<<r.deeper-1)
		}
	}
}

// append appends the code of nodes: the nodes of the base that are gone, the new nodes below parents of kept nodes, and
// the descent from the other parents to their nodes.
func (r *relation) append(dst []byte, nodes []uint64) []byte {
	gone, fresh := r.compare(nodes)
	lost := len(r.base) + len(fresh) - len(nodes)
	dst = bitcode.AppendBits(binary.AppendUvarint(dst, uint64(lost)), gone, len(r.base), lost)
	parents, rest := r.split(gone)
	numbers, others := r.number(fresh, parents)
	dst = bitcode.AppendSparse(binary.AppendUvarint(dst, uint64(len(numbers))), numbers, r.room(parents), &r.flags[2])
	dst = r.appendDescents(dst, others, r.deeper)
	for _, memory := range [][]uint64{fresh, parents, rest, others} {
		r.give(memory)
	}
	return dst
}

// bits returns memory for a bit for each node of the base.
func (r *relation) bits() []uint64 {
	n := (len(r.base) + 63) / 64
	r.flags[1] = slices.Grow(r.flags[1][:0], n)[:n]
	return r.flags[1]
}

// compare returns a bit for each node of the base, set if nodes lacks it, and the nodes that the base lacks. No jump
// depends on the nodes.
func (r *relation) compare(nodes []uint64) (gone, fresh []uint64) {
	gone, fresh = r.bits(), slices.Grow(r.take(), len(nodes)+1)[:len(nodes)+1]
	clear(gone)
	i, j, count, base := 0, 0, 0, r.base
	for i < len(base) && j < len(nodes) {
		a, b := base[i], nodes[j]
		_, less := bits.Sub64(a, b, 0)
		_, more := bits.Sub64(b, a, 0)
		gone[i/64] |= less << (i % 64)
		fresh[count] = b
		count += int(more)
		i += 1 - int(more)
		j += 1 - int(less)
	}
	for ; i < len(base); i++ {
		gone[i/64] |= 1 << (i % 64)
	}
	return gone, fresh[:count+copy(fresh[count:], nodes[j:])]
}

// decode is the inverse of append. The result has at most the given number of nodes.
func (r *relation) decode(src []byte, most int) (nodes []uint64, rest []byte, err error) {
	gone, lost, src, err := r.decodeGone(src)
	if err != nil {
		return nil, nil, err
	}
	parents, others := r.split(gone)
	kept := len(r.base) - lost
	count, src, err := decodeCount(src, most-kept)
	if err != nil {
		return nil, nil, err
	}
	fresh, src, err := bitcode.DecodeSparse(r.take(), src, count, r.room(parents), &r.flags[2])
	if err != nil {
		return nil, nil, fmt.Errorf("summary: nodes added: %w: %w", ErrMalformed, err)
	}
	r.unnumber(fresh, parents)
	r.give(parents)
	below, src, err := r.decodeDescents(src, others, r.deeper, most)
	if err != nil {
		return nil, nil, err
	}
	if len(below) > 0 {
		merged := trie.Merge(r.take(), fresh, below)
		r.give(fresh)
		fresh = merged
	}
	r.give(below)
	nodes, ok := r.merge(gone, kept, fresh)
	if !ok {
		return nil, nil, fmt.Errorf("summary: node added that was there: %w", ErrMalformed)
	}
	r.give(fresh)
	return nodes, src, nil
}

// decodeGone returns a bit for each node of the base, set if the node is gone, and the number of nodes gone.
func (r *relation) decodeGone(src []byte) (gone []uint64, lost int, rest []byte, err error) {
	lost, src, err = decodeCount(src, len(r.base))
	if err != nil {
		return nil, 0, nil, err
	}
	gone = r.bits()
	used, err := bitcode.DecodeBits(gone, src, len(r.base), lost)
	if err != nil {
		return nil, 0, nil, fmt.Errorf("summary: nodes gone: %w: %w", ErrMalformed, err)
	}
	return gone, lost, src[used:], nil
}

// merge returns the kept nodes of the base and the fresh nodes, in order; false if the base has a fresh node, even one
// that is gone. No jump depends on the nodes.
func (r *relation) merge(gone []uint64, kept int, fresh []uint64) (nodes []uint64, ok bool) {
	nodes = slices.Grow(r.take(), kept+len(fresh)+1)[:kept+len(fresh)+1]
	i, j, count, twice, base := 0, 0, 0, uint64(0), r.base
	for i < len(base) && j < len(fresh) {
		a, b := base[i], fresh[j]
		_, less := bits.Sub64(a, b, 0)
		_, more := bits.Sub64(b, a, 0)
		nodes[count] = min(a, b)
		twice |= 1 &^ (less | more)
		count += 1 - int(less&(gone[i/64]>>(i%64)))
		i += int(less)
		j += 1 - int(less)
	}
	for ; i < len(base); i++ {
		nodes[count] = base[i]
		count += 1 - int(gone[i/64]>>(i%64)&1)
	}
	copy(nodes[count:], fresh[j:])
	return nodes[:kept+len(fresh)], twice == 0
}

// relativeCoder codes parts of a plan given a base.
type relativeCoder struct {
	plan       *Plan
	base       base
	first, end int // parts
	*workspace
}

func newRelativeCoder(p *Plan, first, end int, of *Prefix, parts int) relativeCoder {
	return relativeCoder{p, base{of.plan, of.tries, parts}, first, end, newWorkspace()}
}

// append appends the code of parts first to end-1, whose nodes are in blocks.
func (c *relativeCoder) append(dst []byte, blocks []*trie.Block) []byte {
	for block, t := range blocks {
		for _, s := range c.plan.segments(block, c.first, c.end, &c.base) {
			dst = c.appendSegment(dst, block, t, s)
		}
	}
	return dst
}

// appendSegment appends the code of a segment's nodes: at level given the relation to the base's nodes, or an array if
// there is neither a base nor a known level; then the descent to the segment's last level.
func (c *relativeCoder) appendSegment(dst []byte, block int, t *trie.Block, s segment) []byte {
	nodes, level := t.AppendNodes(c.take(), s.begin, s.end, s.to), s.from
	above := c.take()
	switch {
	case s.given != unknownLevel:
		level = s.given
		above = trie.AppendLowered(above, nodes, s.to-level)
		r := c.relation(block, t, s)
		dst = r.append(dst, above)
		r.free()
	case s.from == unknownLevel:
		level = int(t.Start)
		above = trie.AppendLowered(above, nodes, s.to-level)
		dst = appendArray(dst, above, uint64(s.begin), s.end-s.begin)
	}
	dst = c.appendDescents(dst, nodes, s.to-level)
	c.give(above)
	c.give(nodes)
	return dst
}

// relation returns the relation of a segment's nodes to those of the base, at the level that the base is taken at.
func (c *relativeCoder) relation(block int, t *trie.Block, s segment) relation {
	of := c.base.block(block, t.Start)
	return newRelation(c.workspace, c.known(t, s), t.Start, s, of.nodes(c.take(), s))
}

// known returns the nodes of a segment that were known before; nil if there were none.
func (c *relativeCoder) known(t *trie.Block, s segment) []uint64 {
	if s.from == unknownLevel {
		return nil
	}
	return t.AppendNodes(c.take(), s.begin, s.end, s.from)
}

// decode is the inverse of append, for blocks that have the parts before. It changes none of these blocks.
func (c *relativeCoder) decode(src []byte, before []*trie.Block) ([]*trie.Block, error) {
	var blocks []*trie.Block
	for block, l := range c.plan.blocks {
		if !c.plan.begun(block, c.end) {
			break
		}
		t := &trie.Block{Start: l.start}
		if block < len(before) {
			t = before[block].Clone()
		}
		for _, s := range c.plan.segments(block, c.first, c.end, &c.base) {
			nodes, rest, err := c.decodeSegment(src, block, t, s)
			if err != nil {
				return nil, fmt.Errorf("%w (block %d, cells %d to %d)", err, block, s.begin, s.end-1)
			}
			t.Put(trie.NewSet(nodes, s.begin, s.end, s.to-int(l.start)))
			c.give(nodes)
			src = rest
		}
		blocks = append(blocks, t)
	}
	if len(src) != 0 {
		return nil, fmt.Errorf("summary: %d bytes too many: %w", len(src), ErrMalformed)
	}
	workspaces.Put(c.workspace)
	return blocks, nil
}

// decodeSegment is the inverse of appendSegment. t has the nodes known before.
func (c *relativeCoder) decodeSegment(src []byte, block int, t *trie.Block, s segment) (nodes []uint64, rest []byte, err error) {
	low, most := c.plan.limits(block, s.begin, s.end, s.to)
	level := s.from
	switch {
	case s.given != unknownLevel:
		level = s.given
		r := c.relation(block, t, s)
		nodes, src, err = r.decode(src, most)
		r.free()
	case s.from == unknownLevel:
		level = int(t.Start)
		nodes, src, err = c.decodeArray(src, s.begin, s.end, most)
	default:
		nodes = c.known(t, s)
	}
	if err == nil {
		nodes, src, err = c.decodeDescents(src, nodes, s.to-level, most)
	}
	if err == nil && len(nodes) < low {
		err = fmt.Errorf("summary: %d nodes at level %d, want at least %d: %w", len(nodes), s.to, low, ErrMalformed)
	}
	return nodes, src, err
}

// decodeDescents is the inverse of ascent.appendDescents. The result has at most the given number of nodes. It may use
// the memory of the nodes given.
func (w *workspace) decodeDescents(src []byte, nodes []uint64, levels, most int) (out []uint64, rest []byte, err error) {
	one := [1]opening{{src: src, nodes: nodes, high: most, most: most}}
	for range levels {
		if len(nodes) == 0 {
			break
		}
		if err := w.descend(one[:]); err != nil {
			return nil, nil, err
		}
	}
	return one[0].nodes, one[0].src, nil
}

// cellsPerByte bounds the cells that a byte of code stands for, in an array of more than manyCells. The bound holds
// because a [Shape] bounds the number of keys from below.
const (
	cellsPerByte = 64
	manyCells    = 1 << 12
)

// decodeArray is the inverse of appendArray for the nodes of cells begin to end-1.
func (w *workspace) decodeArray(src []byte, begin, end, most int) (nodes []uint64, rest []byte, err error) {
	if n := end - begin; n > manyCells && n > cellsPerByte*len(src) {
		return nil, nil, fmt.Errorf("summary: %d cells in %d bytes: %w", n, len(src), ErrMalformed)
	}
	one := [1]opening{{src: src, begin: begin, end: end, high: most, most: most}}
	err = w.arrays(one[:], 0)
	return one[0].nodes, one[0].src, err
}
