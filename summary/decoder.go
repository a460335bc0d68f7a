package summary

import (
	"fmt"
	"slices"
	"sync"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// decoder extends tries by parts. It changes none of the tries that it was given.
type decoder struct {
	plan  *Plan
	tries []*trie.Block
	block int        // the block being extended; its trie is the decoder's own
	open  [][]uint64 // nodes of the ranges being extended; nil where the trie's set holds them
	steps []*step    // the steps that brought them
	*workspace
}

// workspace is memory that coding needs for a time, and that the next coding may use. It is dropped after a failure,
// when a piece of it may be in two places.
type workspace struct {
	spare [bitcode.Lanes][]uint64 // for nodes
	flags [bitcode.Lanes][]uint64
	free  [][]uint64 // for nodes; at most mostFree
	run   []byte     // for a relative run
	ascent
}

// mostFree is the most pieces of memory that wait for the next decoding: a step has up to some sixteen ranges.
const mostFree = 16

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

func newWorkspace() *workspace { return workspaces.Get().(*workspace) }

// take returns a free piece of memory; nil if there is none.
func (w *workspace) take() (memory []uint64) {
	if n := len(w.free); n > 0 {
		memory, w.free = w.free[n-1][:0], w.free[:n-1]
	}
	return memory
}

// give frees a piece of memory, which nobody reads any more.
func (w *workspace) give(memory []uint64) {
	if len(w.free) < mostFree && cap(memory) > 0 {
		w.free = append(w.free, memory)
	}
}

// decode extends the tries by parts from number first on.
func (d *decoder) decode(first int, parts [][]byte) error {
	d.tries = slices.Clone(d.tries)
	d.block = -1
	d.workspace = newWorkspace()
	for k := first; len(parts) > 0; {
		s := &d.plan.steps[d.plan.stepOf(k)]
		if s.block != d.block {
			d.close()
			d.begin(s.block)
		}
		some := parts[:min(bitcode.Lanes, s.first+s.parts-k, len(parts))] // all of one step
		if err := d.parts(s, k, some); err != nil {
			return err
		}
		k, parts = k+len(some), parts[len(some):]
	}
	d.close()
	workspaces.Put(d.workspace)
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
			d.give(d.open[r])
		}
	}
	d.open, d.steps = nil, nil
}

// opening is a part being decoded.
type opening struct {
	number     int
	begin, end int // cells
	most       int // the most nodes at the final level
	src        []byte
	nodes      []uint64
}

// parts decodes up to bitcode.Lanes parts of step s, from number k on.
func (d *decoder) parts(s *step, k int, parts [][]byte) error {
	t := d.tries[d.block]
	var opened [bitcode.Lanes]opening
	some := opened[:len(parts)]
	for i := range some {
		d.start(&some[i], s, k+i, parts[i])
	}
	level := max(s.from, int(t.Start))
	if s.sample {
		level = s.to
	}
	if s.sample || s.from < level {
		if err := d.arrays(some, level); err != nil {
			return err
		}
	}
	for ; level < s.to; level++ {
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
			d.give(o.nodes)
			continue
		}
		r := s.lead + o.number - s.first
		d.open[r], d.steps[r] = o.nodes, s
	}
	return nil
}

// start opens part k of step s, with the nodes that it descends from if there are any.
func (d *decoder) start(o *opening, s *step, k int, src []byte) {
	o.number, o.src = k, src
	o.begin, o.end = d.plan.cells(s, k)
	_, o.most = d.plan.limits(s.block, o.begin, o.end, int(d.plan.shape.Levels[s.block]))
	if !s.sample && s.from >= int(d.tries[d.block].Start) {
		o.nodes = d.nodes(s, o.begin, o.end)
	}
}

// descend takes up to bitcode.Lanes parts of one step down to a level.
func (d *decoder) descend(some []opening, level int) error {
	var codes [bitcode.Lanes]descent
	var arrays [bitcode.Lanes]bitcode.Array
	var low [bitcode.Lanes]int
	for i := range some {
		o := &some[i]
		fewest, most := d.plan.limits(d.block, o.begin, o.end, level)
		low[i] = fewest
		var err error
		if codes[i], err = readDescent(d.flags[i], o.src, o.nodes, most); err != nil {
			return fmt.Errorf("%w (part %d)", err, o.number)
		}
		d.flags[i] = codes[i].flags
		arrays[i] = codes[i].array()
	}
	used, err := bitcode.DecodeSeveral(arrays[:len(some)])
	if err != nil {
		return fmt.Errorf("summary: flags: %w: %w (parts %d to %d)", ErrMalformed, err, some[0].number, some[len(some)-1].number)
	}
	for i := range some {
		o := &some[i]
		nodes, rest, err := codes[i].children(d.spare[i], used[i], o.most)
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

// arrays decodes all nodes of up to bitcode.Lanes parts at a level.
func (d *decoder) arrays(some []opening, level int) error {
	var codes [bitcode.Lanes]bitcode.Array
	depth := level - int(d.plan.blocks[d.block].start)
	for i := range some {
		o := &some[i]
		low, high := d.plan.limits(d.block, o.begin, o.end, level)
		var err error
		codes[i], err = readArray(d.flags[i], o.src, (o.end-o.begin)<<depth, high)
		if ones := codes[i].Ones; err == nil && ones < low {
			err = fmt.Errorf("summary: %d nodes at level %d, not %d to %d: %w", ones, level, low, high, ErrMalformed)
		}
		if err != nil {
			return fmt.Errorf("%w (part %d)", err, o.number)
		}
		d.flags[i] = codes[i].Words
	}
	used, err := bitcode.DecodeSeveral(codes[:len(some)])
	if err != nil {
		return fmt.Errorf("summary: array: %w: %w (parts %d to %d)", ErrMalformed, err, some[0].number, some[len(some)-1].number)
	}
	for i := range some {
		o := &some[i]
		o.nodes, o.src = nodesOf(d.take(), codes[i], uint64(o.begin)<<depth, o.most), codes[i].Src[used[i]:]
	}
	return nil
}

// nodes returns the nodes of cells begin to end-1 at the level that step s starts from.
func (d *decoder) nodes(s *step, begin, end int) []uint64 {
	t := d.tries[d.block]
	r := d.plan.blocks[d.block].rangeOf(begin)
	open := d.open[r]
	if open == nil {
		return t.AppendNodes(d.take(), begin, end, s.from)
	}
	if held := d.steps[r].skip; begin < held { // the sample is deepened together with the rest from here on
		nodes := append(t.AppendNodes(d.take(), begin, min(held, end), s.from), open...)
		d.give(open)
		return nodes
	}
	return open
}

// limits returns the fewest and the most nodes that cells begin to end-1 of a block may have at a level. They lie six
// standard deviations from the number that n random keys leave there.
func (p *Plan) limits(block, begin, end, level int) (low, high int) {
	start := int(p.blocks[block].start)
	mean := scale(occupied(p.N, level), end-begin, 1<<start)
	high = min(mean+slack(mean), p.N)
	if most := uint64(end-begin) << (level - start); most < uint64(high) {
		high = int(most)
	}
	return max(0, mean-slack(mean)), high
}
