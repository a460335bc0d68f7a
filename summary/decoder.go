package summary

import (
	"fmt"
	"slices"
)

// decoder extends tries by parts. It leaves those it was given as they are.
type decoder struct {
	plan  *Plan
	tries []*trie
	block int        // being extended; its trie is the decoder's own
	open  [][]uint64 // nodes of ranges being extended, nil where the trie's set holds
	steps []*step    // that brought them
	spare []uint64   // memory for nodes
}

// decode extends the tries by parts from number first on.
func (d *decoder) decode(first int, parts [][]byte) error {
	d.tries = slices.Clone(d.tries)
	d.block = -1
	for i, b := range parts {
		s := &d.plan.steps[d.plan.stepOf(first+i)]
		if s.block != d.block {
			d.close()
			d.begin(s.block)
		}
		if err := d.part(s, first+i, b); err != nil {
			return fmt.Errorf("%w (part %d)", err, first+i)
		}
	}
	d.close()
	return nil
}

// begin makes a block's trie ready to be extended.
func (d *decoder) begin(block int) {
	l := d.plan.blocks[block]
	if block < len(d.tries) {
		d.tries[block] = d.tries[block].clone()
	} else {
		d.tries = append(d.tries, &trie{layout: l, ranges: make([]*set, l.ranges)})
	}
	d.block = block
	d.open, d.steps = make([][]uint64, l.ranges), make([]*step, l.ranges)
}

// close packs the nodes of the open ranges.
func (d *decoder) close() {
	for r, s := range d.steps {
		if s != nil {
			begin, end := d.plan.cells(s, s.first+r-s.lead)
			t := d.tries[d.block]
			t.setRange(r, newSet(d.open[r], begin, end, s.to-int(t.start)))
		}
	}
	d.open, d.steps = nil, nil
}

// part decodes part k, of step s.
func (d *decoder) part(s *step, k int, b []byte) error {
	t := d.tries[d.block]
	start := int(t.start)
	begin, end := d.plan.cells(s, k)
	var nodes []uint64
	var err error
	switch {
	case s.sample:
		nodes, b, err = d.array(b, begin, end, s.to)
	case s.from < start:
		nodes, b, err = d.array(b, begin, end, start)
	default:
		nodes = d.nodes(s, begin, end)
	}
	if err != nil {
		return err
	}
	for level := max(s.from, start); level < s.to && !s.sample; level++ {
		low, high := d.plan.limits(d.block, begin, end, level+1)
		var children []uint64
		if children, b, err = decodeDescent(d.spare, b, nodes, high); err != nil {
			return err
		}
		d.spare, nodes = nodes, children
		if len(nodes) < low {
			return fmt.Errorf("summary: %d nodes at level %d, not %d to %d: %w", len(nodes), level+1, low, high, ErrMalformed)
		}
	}
	if len(b) != 0 {
		return fmt.Errorf("summary: %d bytes too many: %w", len(b), ErrMalformed)
	}
	if s.sample {
		t.sample = newSet(nodes, begin, end, s.to-start)
		return nil
	}
	r := s.lead + k - s.first
	d.open[r], d.steps[r] = nodes, s
	return nil
}

// array decodes all nodes of some cells at a level.
func (d *decoder) array(b []byte, begin, end, level int) (nodes []uint64, rest []byte, err error) {
	low, high := d.plan.limits(d.block, begin, end, level)
	depth := level - int(d.plan.blocks[d.block].start)
	nodes, rest, err = decodeArray(b, uint64(begin)<<depth, (end-begin)<<depth, high)
	if err == nil && len(nodes) < low {
		err = fmt.Errorf("summary: %d nodes at level %d, not %d to %d: %w", len(nodes), level, low, high, ErrMalformed)
	}
	return nodes, rest, err
}

// nodes are those of a range at the level that step s starts from.
func (d *decoder) nodes(s *step, begin, end int) []uint64 {
	t := d.tries[d.block]
	r := t.rangeOf(begin)
	open := d.open[r]
	if open == nil {
		return t.appendNodes(nil, begin, end, s.from)
	}
	if held := d.steps[r].skip; begin < held && t.sample != nil { // the sample is deepened together with the rest from here on
		return append(t.appendNodes(nil, begin, min(held, end), s.from), open...)
	}
	return open
}

// limits are the fewest and the most nodes that cells begin to end-1 of a block may have at a level: six standard
// deviations from what n random keys leave there.
func (p *Plan) limits(block, begin, end, level int) (low, high int) {
	start := int(p.blocks[block].start)
	mean := scale(occupied(p.n, level), end-begin, 1<<start)
	high = min(mean+slack(mean), p.n)
	if most := uint64(end-begin) << (level - start); most < uint64(high) {
		high = int(most)
	}
	return max(0, mean-slack(mean)), high
}
