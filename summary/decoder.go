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
	steps []*step    // last step decoded of each range being extended; nil for other ranges
	*workspace
}

// workspace is scratch memory of an encoder or a decoder, which the next one reuses. It is dropped after a failure,
// when two slices may share a piece of it.
type workspace struct {
	spare [bitcode.Lanes][]uint64 // memory for nodes
	flags [bitcode.Lanes][]uint64
	free  [][]uint64 // free pieces of memory for nodes; at most mostFree
	run   []byte     // memory for a relative run
	ascent
}

// mostFree caps the free pieces of memory kept for the next decoding: a step has up to some sixteen ranges.
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

// give keeps a piece of memory for a later take. The caller must not use it any more.
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

// opening is a code of nodes that is being decoded, such as a part.
type opening struct {
	number     int // number of the part
	begin, end int // cells
	low, high  int // the fewest and the most nodes allowed at the level decoded next
	most       int // the most nodes at the final level
	src        []byte
	nodes      []uint64
}

// parts decodes up to bitcode.Lanes parts of step s, from number k on.
func (d *decoder) parts(s *step, k int, parts [][]byte) error {
	var opened [bitcode.Lanes]opening
	some := opened[:len(parts)]
	for i := range some {
		d.start(&some[i], s, k+i, parts[i])
	}
	if err := d.step(s, some); err != nil {
		return fmt.Errorf("%w (parts %d to %d)", err, k, k+len(parts)-1)
	}
	t := d.tries[d.block]
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

// start prepares part k of step s for decoding, with the nodes that it descends from if the block has any.
func (d *decoder) start(o *opening, s *step, k int, src []byte) {
	o.number, o.src = k, src
	o.begin, o.end = d.plan.cells(s, k)
	_, o.most = d.plan.limits(s.block, o.begin, o.end, int(d.plan.shape.Levels[s.block]))
	if !s.sample && s.from >= int(d.tries[d.block].Start) {
		o.nodes = d.nodes(s, o.begin, o.end)
	}
}

// step decodes all levels of parts of one step.
func (d *decoder) step(s *step, some []opening) error {
	start := int(d.tries[d.block].Start)
	level := max(s.from, start)
	if s.sample {
		level = s.to
	}
	if s.sample || s.from < level {
		d.limit(some, level)
		if err := d.arrays(some, level-start); err != nil {
			return err
		}
	}
	for level++; level <= s.to; level++ {
		d.limit(some, level)
		if err := d.descend(some); err != nil {
			return err
		}
	}
	return nil
}

// limit sets the fewest and the most nodes that each part may have at a level.
func (d *decoder) limit(some []opening, level int) {
	for i := range some {
		some[i].low, some[i].high = d.plan.limits(d.block, some[i].begin, some[i].end, level)
	}
}

// descend decodes one level of up to bitcode.Lanes codes: it replaces the nodes of each by their children.
func (w *workspace) descend(some []opening) (err error) {
	var flags [bitcode.Lanes]bitcode.Array
	for i := range some {
		parents := len(some[i].nodes)
		if flags[i], err = readArray(w.flags[i], some[i].src, parents, some[i].high-parents); err != nil {
			return err
		}
		w.flags[i] = flags[i].Words
	}
	used, err := bitcode.DecodeSeveral(flags[:len(some)])
	if err != nil {
		return fmt.Errorf("summary: flags: %w: %w", ErrMalformed, err)
	}
	for i := range some {
		o := &some[i]
		nodes, rest, err := children(w.spare[i], o.nodes, flags[i], flags[i].Src[used[i]:], o.most)
		if err == nil && len(nodes) < o.low {
			err = fmt.Errorf("summary: %d nodes, at least %d: %w", len(nodes), o.low, ErrMalformed)
		}
		if err != nil {
			return err
		}
		w.spare[i], o.nodes, o.src = o.nodes, nodes, rest
	}
	return nil
}

// arrays decodes the array of each of up to bitcode.Lanes codes: its nodes at the level depth below the cells.
func (w *workspace) arrays(some []opening, depth int) (err error) {
	var codes [bitcode.Lanes]bitcode.Array
	for i := range some {
		o := &some[i]
		codes[i], err = readArray(w.flags[i], o.src, (o.end-o.begin)<<depth, o.high)
		if ones := codes[i].Ones; err == nil && ones < o.low {
			err = fmt.Errorf("summary: %d nodes, not %d to %d: %w", ones, o.low, o.high, ErrMalformed)
		}
		if err != nil {
			return err
		}
		w.flags[i] = codes[i].Words
	}
	used, err := bitcode.DecodeSeveral(codes[:len(some)])
	if err != nil {
		return fmt.Errorf("summary: array: %w: %w", ErrMalformed, err)
	}
	for i := range some {
		o := &some[i]
		o.nodes, o.src = nodesOf(w.take(), codes[i], uint64(o.begin)<<depth, o.most), codes[i].Src[used[i]:]
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
