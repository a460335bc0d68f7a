package summary

import (
	"fmt"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// decoder extends tries by parts. It leaves those it was given as they are.
type decoder struct {
	plan  *Plan
	tries []*trie.Block
	block int         // being extended; its trie is the decoder's own
	open  [][]uint64  // nodes of ranges being extended, nil where the trie's set holds
	steps []*step     // that brought them
	spare [2][]uint64 // memory for nodes
	flags [2][]uint64 // memory for flags
}

// decode extends the tries by parts from number first on.
func (d *decoder) decode(first int, parts [][]byte) error {
	d.tries = slices.Clone(d.tries)
	d.block = -1
	for k := first; len(parts) > 0; {
		s := &d.plan.steps[d.plan.stepOf(k)]
		if s.block != d.block {
			d.close()
			d.begin(s.block)
		}
		some := parts[:min(2, s.first+s.parts-k, len(parts))] // of one step
		if err := d.parts(s, k, some); err != nil {
			return err
		}
		k, parts = k+len(some), parts[len(some):]
	}
	d.close()
	return nil
}

// begin makes a block's trie ready to be extended.
func (d *decoder) begin(block int) {
	l := d.plan.blocks[block]
	if block < len(d.tries) {
		d.tries[block] = d.tries[block].Clone()
	} else {
		d.tries = append(d.tries, &trie.Block{Start: l.start})
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
			t.Put(trie.NewSet(d.open[r], begin, end, s.to-int(t.Start)))
		}
	}
	d.open, d.steps = nil, nil
}

// opening is a part being decoded.
type opening struct {
	number     int
	begin, end int // cells
	src        []byte
	nodes      []uint64
}

// parts decodes one part of step s or two, from number k on.
func (d *decoder) parts(s *step, k int, parts [][]byte) error {
	t := d.tries[d.block]
	var opened [2]opening
	some := opened[:len(parts)]
	for i := range some {
		if err := d.start(&some[i], s, k+i, parts[i]); err != nil {
			return fmt.Errorf("%w (part %d)", err, k+i)
		}
	}
	for level := max(s.from, int(t.Start)); level < s.to && !s.sample; level++ {
		if err := d.descend(some, level+1); err != nil {
			return err
		}
	}
	for i := range some {
		o := &some[i]
		if len(o.src) != 0 {
			return fmt.Errorf("summary: %d bytes too many: %w (part %d)", len(o.src), ErrMalformed, o.number)
		}
		if s.sample {
			t.Put(trie.NewSet(o.nodes, o.begin, o.end, s.to-int(t.Start)))
			continue
		}
		r := s.lead + o.number - s.first
		d.open[r], d.steps[r] = o.nodes, s
	}
	return nil
}

// start finds the nodes that part k of step s descends from.
func (d *decoder) start(o *opening, s *step, k int, src []byte) (err error) {
	o.number, o.src = k, src
	o.begin, o.end = d.plan.cells(s, k)
	start := int(d.tries[d.block].Start)
	switch {
	case s.sample:
		o.nodes, o.src, err = d.array(src, o.begin, o.end, s.to)
	case s.from < start:
		o.nodes, o.src, err = d.array(src, o.begin, o.end, start)
	default:
		o.nodes = d.nodes(s, o.begin, o.end)
	}
	return err
}

// descend takes one part or two of one step down to a level.
func (d *decoder) descend(some []opening, level int) error {
	var codes [2]descent
	var used [2]int
	var low [2]int
	for i := range some {
		o := &some[i]
		fewest, most := d.plan.limits(d.block, o.begin, o.end, level)
		low[i] = fewest
		var err error
		if codes[i], err = readDescent(d.flags[i], o.src, o.nodes, most); err != nil {
			return fmt.Errorf("%w (part %d)", err, o.number)
		}
		d.flags[i] = codes[i].flags
	}
	var err error
	if len(some) == 2 {
		used, err = bitcode.DecodeTwo(codes[0].array(), codes[1].array())
	} else {
		a := codes[0].array()
		used[0], err = bitcode.DecodeBits(a.Words, a.Src, a.N, a.Ones)
	}
	if err != nil {
		return fmt.Errorf("summary: flags: %w: %w (part %d or the next)", ErrMalformed, err, some[0].number)
	}
	for i := range some {
		o := &some[i]
		nodes, rest, err := codes[i].children(d.spare[i], used[i])
		if err == nil && len(nodes) < low[i] {
			err = fmt.Errorf("summary: %d nodes at level %d, at least %d: %w", len(nodes), level, low[i], ErrMalformed)
		}
		if err != nil {
			return fmt.Errorf("%w (part %d)", err, o.number)
		}
		d.spare[i], o.nodes, o.src = o.nodes, nodes, rest
	}
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
	r := d.plan.blocks[d.block].rangeOf(begin)
	open := d.open[r]
	if open == nil {
		return t.AppendNodes(nil, begin, end, s.from)
	}
	if held := d.steps[r].skip; begin < held { // the sample is deepened together with the rest from here on
		return append(t.AppendNodes(nil, begin, min(held, end), s.from), open...)
	}
	return open
}

// limits are the fewest and the most nodes that cells begin to end-1 of a block may have at a level. They lie six
// standard deviations from what n random keys leave there.
func (p *Plan) limits(block, begin, end, level int) (low, high int) {
	start := int(p.blocks[block].start)
	mean := scale(occupied(p.n, level), end-begin, 1<<start)
	high = min(mean+slack(mean), p.n)
	if most := uint64(end-begin) << (level - start); most < uint64(high) {
		high = int(most)
	}
	return max(0, mean-slack(mean)), high
}
