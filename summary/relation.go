package summary

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// relation has the nodes of a base at a level, to code another trie's nodes of that level given them. It also has the
// nodes known some levels above, each of which has at least one of the coded nodes below it.
type relation struct {
	anywhere bool      // nothing is known above: the nodes may be anywhere in a span
	in       trie.Span // the span in which the nodes may lie, if anywhere
	parents  []uint64  // the nodes known above
	deeper   int       // levels from the parents to the nodes
	base     []uint64  // nodes of the base; those below no parent are left out
}

func newRelation(parents []uint64, start uint8, s segment, base []uint64) relation {
	if s.from == unknownLevel {
		return relation{anywhere: true, in: s.room(start), base: base}
	}
	r := relation{parents: parents, deeper: s.given - s.from, base: base[:0]}
	c := cousins{parents: parents, deeper: r.deeper}
	for _, v := range base {
		if c.find(v) >= 0 {
			r.base = append(r.base, v)
		}
	}
	return r
}

// cousins finds the parents of nodes, both in order.
type cousins struct {
	parents []uint64
	deeper  int
	next    int
}

// find returns the number of the parent of a node, -1 if it has none.
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

// split divides the parents into parents of kept nodes of the base, and the others.
func (r *relation) split(kept []uint64) (some, others []uint64) {
	next := 0
	for _, p := range r.parents {
		for next < len(kept) && kept[next]>>r.deeper < p {
			next++
		}
		if next < len(kept) && kept[next]>>r.deeper == p {
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

// number turns the nodes that lie below parents into numbers below the room of these, and returns the other nodes.
func (r *relation) number(nodes, parents []uint64) (numbers, others []uint64) {
	if r.anywhere {
		for _, v := range nodes {
			numbers = append(numbers, v-r.in.Begin)
		}
		return numbers, nil
	}
	c := cousins{parents: parents, deeper: r.deeper}
	for _, v := range nodes {
		if i := c.find(v); i >= 0 {
			numbers = append(numbers, uint64(i)<<r.deeper|v&(1<<r.deeper-1))
		} else {
			others = append(others, v)
		}
	}
	return numbers, others
}

// unnumber turns numbers into nodes below parents, in their place.
func (r *relation) unnumber(numbers, parents []uint64) []uint64 {
	for i, v := range numbers {
		if r.anywhere {
			numbers[i] = v + r.in.Begin
		} else {
			numbers[i] = parents[v>>r.deeper]<<r.deeper | v&(1<<r.deeper-1)
		}
	}
	return numbers
}

// append appends the code of nodes: which nodes of the base are gone, which new nodes lie below parents of the kept
// ones, and how the other parents become nodes.
func (r *relation) append(dst []byte, nodes []uint64) []byte {
	gone, kept, fresh := r.compare(nodes)
	dst = binary.AppendUvarint(dst, uint64(len(r.base)-len(kept)))
	dst = bitcode.AppendBits(dst, gone, len(r.base), len(r.base)-len(kept))
	parents, _ := r.split(kept)
	numbers, others := r.number(fresh, parents)
	dst = binary.AppendUvarint(dst, uint64(len(numbers)))
	dst = bitcode.AppendSparse(dst, numbers, r.room(parents))
	return appendDescents(dst, others, r.deeper)
}

// compare returns a set bit for each node of the base that is gone, the nodes of the base that stay, and the new nodes.
func (r *relation) compare(nodes []uint64) (gone, kept, fresh []uint64) {
	gone = make([]uint64, (len(r.base)+63)/64)
	kept = make([]uint64, 0, min(len(r.base), len(nodes)))
	next := 0
	for i, v := range r.base {
		for next < len(nodes) && nodes[next] < v {
			fresh = append(fresh, nodes[next])
			next++
		}
		if next < len(nodes) && nodes[next] == v {
			kept = append(kept, v)
			next++
		} else {
			gone[i/64] |= 1 << (i % 64)
		}
	}
	return gone, kept, append(fresh, nodes[next:]...)
}

// decode is the inverse of append. The result has at most the given number of nodes.
func (r *relation) decode(src []byte, most int) (nodes []uint64, rest []byte, err error) {
	kept, src, err := r.decodeKept(src)
	if err != nil {
		return nil, nil, err
	}
	parents, others := r.split(kept)
	count, src, err := decodeCount(src, most-len(kept))
	if err != nil {
		return nil, nil, err
	}
	numbers, src, err := bitcode.DecodeSparse(src, count, r.room(parents))
	if err != nil {
		return nil, nil, fmt.Errorf("summary: nodes added: %w: %w", ErrMalformed, err)
	}
	below, src, err := decodeDescents(src, others, r.deeper, most)
	if err != nil {
		return nil, nil, err
	}
	fresh := trie.Merge(r.unnumber(numbers, parents), below)
	if len(trie.Merge(fresh, r.base)) != len(fresh)+len(r.base) {
		return nil, nil, fmt.Errorf("summary: node added that was there: %w", ErrMalformed)
	}
	return trie.Merge(kept, fresh), src, nil
}

// decodeKept decodes which nodes of the base are gone, and returns the others.
func (r *relation) decodeKept(src []byte) (kept []uint64, rest []byte, err error) {
	lost, src, err := decodeCount(src, len(r.base))
	if err != nil {
		return nil, nil, err
	}
	gone := make([]uint64, (len(r.base)+63)/64)
	used, err := bitcode.DecodeBits(gone, src, len(r.base), lost)
	if err != nil {
		return nil, nil, fmt.Errorf("summary: nodes gone: %w: %w", ErrMalformed, err)
	}
	kept = make([]uint64, 0, len(r.base)-lost)
	for i, v := range r.base {
		if gone[i/64]>>(i%64)&1 == 0 {
			kept = append(kept, v)
		}
	}
	return kept, src[used:], nil
}

// relativeCoder codes parts of a plan given a base.
type relativeCoder struct {
	plan       *Plan
	base       base
	first, end int // parts
}

func newRelativeCoder(p *Plan, first, end int, of *Prefix, parts int) relativeCoder {
	return relativeCoder{plan: p, base: base{of.plan, of.blocks(), parts}, first: first, end: end}
}

// append appends the code of the parts of blocks.
func (c *relativeCoder) append(dst []byte, blocks []*trie.Block) []byte {
	for block, t := range blocks {
		for _, s := range c.plan.segments(block, c.first, c.end, &c.base) {
			dst = c.appendSegment(dst, block, t, s)
		}
	}
	return dst
}

func (c *relativeCoder) appendSegment(dst []byte, block int, t *trie.Block, s segment) []byte {
	nodes, level := t.AppendNodes(nil, s.begin, s.end, s.to), s.from
	switch {
	case s.given != unknownLevel:
		level = s.given
		of := c.base.block(block, t.Start)
		r := newRelation(c.known(t, s), t.Start, s, of.nodes(s))
		dst = r.append(dst, trie.AppendLowered(nil, nodes, s.to-level))
	case s.from == unknownLevel:
		level = int(t.Start)
		dst = appendArray(dst, trie.AppendLowered(nil, nodes, s.to-level), uint64(s.begin), s.end-s.begin)
	}
	return appendDescents(dst, nodes, s.to-level)
}

// known returns the nodes of a segment that were known before; nil if there were none.
func (c *relativeCoder) known(t *trie.Block, s segment) []uint64 {
	if s.from == unknownLevel {
		return nil
	}
	return t.AppendNodes(nil, s.begin, s.end, s.from)
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
			src = rest
		}
		blocks = append(blocks, truncate(t, c.plan, block, c.end))
	}
	if len(src) != 0 {
		return nil, fmt.Errorf("summary: %d bytes too many: %w", len(src), ErrMalformed)
	}
	return blocks, nil
}

func (c *relativeCoder) decodeSegment(src []byte, block int, t *trie.Block, s segment) (nodes []uint64, rest []byte, err error) {
	low, most := c.plan.limits(block, s.begin, s.end, s.to)
	nodes, level := c.known(t, s), s.from
	switch {
	case s.given != unknownLevel:
		level = s.given
		of := c.base.block(block, t.Start)
		r := newRelation(nodes, t.Start, s, of.nodes(s))
		nodes, src, err = r.decode(src, most)
	case s.from == unknownLevel:
		level = int(t.Start)
		nodes, src, err = decodeArray(src, uint64(s.begin), s.end-s.begin, most)
	}
	if err == nil {
		nodes, src, err = decodeDescents(src, nodes, s.to-level, most)
	}
	if err == nil && len(nodes) < low {
		err = fmt.Errorf("summary: %d nodes at level %d, want at least %d: %w", len(nodes), s.to, low, ErrMalformed)
	}
	return nodes, src, err
}

// appendDescents appends how the nodes some levels above become nodes, level by level; nothing if there are no nodes.
func appendDescents(dst []byte, nodes []uint64, levels int) []byte {
	if len(nodes) == 0 {
		return dst
	}
	sections := make([][]byte, levels)
	nodes = slices.Clone(nodes)
	for i := range slices.Backward(sections) {
		sections[i], nodes = appendDescent(nil, nodes)
	}
	for _, b := range sections {
		dst = append(dst, b...)
	}
	return dst
}

// decodeDescents is the inverse of appendDescents. The result has at most the given number of nodes.
func decodeDescents(src []byte, nodes []uint64, levels, most int) (out []uint64, rest []byte, err error) {
	if len(nodes) == 0 {
		return nil, src, nil
	}
	for range levels {
		d, err := readDescent(nil, src, nodes, most)
		if err != nil {
			return nil, nil, err
		}
		used, err := bitcode.DecodeBits(d.flags, d.src, len(d.parents), d.both)
		if err != nil {
			return nil, nil, fmt.Errorf("summary: flags: %w: %w", ErrMalformed, err)
		}
		if nodes, src, err = d.children(nil, used, most); err != nil {
			return nil, nil, err
		}
	}
	return nodes, src, nil
}

// cellsPerByte is more than the number of cells that a byte of code stands for, in an array of more than manyCells:
// [Shape] limits how few keys there are.
const (
	cellsPerByte = 64
	manyCells    = 1 << 12
)

// decodeArray is the inverse of appendArray.
func decodeArray(src []byte, base uint64, n, most int) (nodes []uint64, rest []byte, err error) {
	if n > manyCells && n > cellsPerByte*len(src) {
		return nil, nil, fmt.Errorf("summary: %d cells in %d bytes: %w", n, len(src), ErrMalformed)
	}
	a, err := readArray(nil, src, n, most)
	if err != nil {
		return nil, nil, err
	}
	used, err := bitcode.DecodeBits(a.Words, a.Src, a.N, a.Ones)
	if err != nil {
		return nil, nil, fmt.Errorf("summary: array: %w: %w", ErrMalformed, err)
	}
	return nodesOf(nil, a, base, most), a.Src[used:], nil
}
