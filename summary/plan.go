package summary

import (
	"fmt"
	"math"
	"sort"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// Limits of steps, ranges and parts.
const (
	minStepBytes = 512      // a step goes down more levels until it has this size
	wholeBytes   = 4 << 10  // a block with a larger step is cut into ranges
	minRanges    = 4        // the fewest ranges of a block that is cut
	usualRanges  = 8        // the most ranges while parts stay below rangeBytes: prefixes can be cut finely
	usualBytes   = 3 << 9   // least bytes of a part of the largest step, in a block of more than minRanges
	rangeBytes   = 40 << 10 // most bytes of a part: with 1.5 times the keys it stays below maxPartBytes
	maxSample    = 62 << 10 // most bytes predicted for a sample: six standard deviations more stay below maxPartBytes
	unknownLevel = -1       // the level of a block before its first part
	fullQuarters = 3        // quarters of hash space beyond which a sample takes all of it
)

// Plan lists the parts of a stream: the levels and cells of each, and its predicted size. It follows from the number of
// keys and the shape alone, in integer arithmetic.
type Plan struct {
	N      int // number of keys; not to be changed
	shape  Shape
	blocks []layout
	steps  []step
	parts  int
	bytes  int
}

// planner makes a plan. All blocks share its forecasts, so that each level is computed once.
type planner struct {
	*Plan
	planned, actual *forecast // forecasts for the keys that the shape is laid out for, and for the actual keys
}

// layout is the division of a block into ranges of hash space. Its start level has cells 0 to 2^start-1.
type layout struct {
	start  uint8 // first level sent: log2 of the keys (an array with one to two keys a bit), or the final level if less
	ranges int
	sample int // part 0 covers cells 0 to sample-1 of block 0
}

// step refines a block from one level to another. Each of its parts refines one range.
type step struct {
	block    int
	from, to int  // levels; from is unknownLevel in the first step
	sample   bool // the step is the sample: from nothing to the sample level, cells 0 to sample-1
	skip     int  // the sample gave cells 0 to skip-1
	first    int  // number of the step's first part
	lead     int  // first range that has cells left after skip
	parts    int
	offset   int // predicted bytes of the steps before
	bytes    int // predicted bytes of this step
}

// NewPlan returns the plan of n keys in a shape; ErrMalformed or ErrLimit if there can be none. It takes time and
// memory proportional to the sum of the levels.
func NewPlan(n int, s Shape) (*Plan, error) {
	s = s.normal(n)
	if err := s.check(n); err != nil {
		return nil, err
	}
	p := &Plan{N: n, shape: s}
	pl := planner{Plan: p, planned: newForecast(s.Keys), actual: newForecast(n)}
	p.blocks, p.steps = make([]layout, 0, len(s.Levels)), make([]step, 0, pl.mostSteps())
	for i := range s.Levels {
		pl.addBlock(i)
	}
	if most := p.steps[0].bytes; p.steps[0].sample && most > maxSample {
		return nil, fmt.Errorf("summary: %d keys make the sample %d bytes, at most %d: %w", n, most, maxSample, ErrMalformed)
	}
	if p.parts > maxParts {
		return nil, fmt.Errorf("summary: %d parts, at most %d: %w", p.parts, maxParts, ErrLimit)
	}
	return p, nil
}

// survey counts the steps of a block without a sample, and returns the size of the largest step.
func (p *planner) survey(final uint8) (steps, largest int) {
	start := int(min(floorLog2(p.shape.Keys), final))
	for from := unknownLevel; from < int(final); steps++ {
		var bytes int
		from, bytes = p.planned.next(start, from, int(final))
		largest = max(largest, bytes)
	}
	return steps, largest
}

// mostSteps returns the greatest possible number of steps: a sample adds one, and may split another.
func (p *planner) mostSteps() int {
	most := 0
	for _, final := range p.shape.Levels {
		steps, _ := p.survey(final)
		most += steps
	}
	if p.shape.SampleBytes > 0 {
		most += 2
	}
	return most
}

// addBlock appends the steps of block i. The ends of steps and parts follow from the keys that the shape is laid out
// for, their sizes from the actual number of keys.
func (p *planner) addBlock(i int) {
	s := p.shape
	final := int(s.Levels[i])
	l := layout{start: min(floorLog2(s.Keys), s.Levels[i]), ranges: 1}
	if i == 0 && s.SampleBytes > 0 {
		l.sample = sampleCells(s, int(l.start))
	}
	_, largest := p.survey(s.Levels[i])
	if largest > wholeBytes {
		l.ranges = max(minRanges, min(usualRanges, largest/usualBytes), (largest+rangeBytes-1)/rangeBytes)
	}
	p.blocks = append(p.blocks, l)
	if l.sample > 0 {
		p.addStep(l, step{block: i, from: unknownLevel, to: int(s.SampleLevel), sample: true, parts: 1})
	}
	for from, to := unknownLevel, 0; from < final; from = to {
		to, _ = p.planned.next(int(l.start), from, final)
		skip := 0
		if l.sample > 0 {
			if from < int(s.SampleLevel) {
				to = min(to, int(s.SampleLevel)) // so that no step crosses the level of the sample
				skip = l.sample
			}
		}
		lead := l.rangeOf(skip)
		if lead < l.ranges {
			p.addStep(l, step{block: i, from: from, to: to, skip: skip, lead: lead, parts: l.ranges - lead})
		}
	}
}

// addStep appends a step of a block, after it has set the step's first part, offset and predicted bytes.
func (p *planner) addStep(l layout, s step) {
	s.first, s.offset = p.parts, p.bytes
	start := int(l.start)
	switch {
	case s.sample:
		s.bytes = (&forecast{n: p.N, cells: l.sample, cut: start}).array(s.to)
	case s.skip > 0:
		s.bytes = (&forecast{n: p.N, cells: 1<<start - s.skip, cut: start}).step(start, s.from, s.to)
	default:
		s.bytes = p.actual.step(start, s.from, s.to)
	}
	p.steps = append(p.steps, s)
	p.parts += s.parts
	p.bytes += s.bytes
}

// sampleCells returns the number of cells whose array has about the size that the shape wants for its sample.
func sampleCells(s Shape, start int) int {
	all := 1 << start
	some := min(all, 1<<16) // enough to tell the bytes that a cell takes
	bytes := (&forecast{n: s.Keys, cells: some, cut: start}).array(int(s.SampleLevel))
	cells := int(max(1, int64(s.SampleBytes)*int64(some)/int64(max(bytes, 1))))
	if cells > all/4*fullQuarters {
		return all
	}
	return cells
}

// countBytes returns the size of a count as a varint.
func countBytes(v int) int {
	size := 1
	for ; v >= 0x80; v >>= 7 {
		size++
	}
	return size
}

// bound returns the first cell of a range.
func (l layout) bound(r int) int { return scale(1<<l.start, r, l.ranges) }

// rangeOf returns the range that a cell is in; the number of ranges for the first cell past the last.
func (l layout) rangeOf(cell int) int {
	r := scale(cell, l.ranges, 1<<l.start) // right, or one too low because bounds are rounded down
	if r < l.ranges && l.bound(r+1) <= cell {
		r++
	}
	return r
}

// Parts returns the number of parts of the whole stream, at least 1. O(1).
func (p *Plan) Parts() int { return p.parts }

// Sample returns the region of block 0 that part 0 codes: hash space from 0 to end, in units of 2^-32, at a level. It
// returns false if the stream begins without a sample. O(1).
func (p *Plan) Sample() (end uint64, level int, ok bool) {
	s := &p.steps[0]
	if !s.sample {
		return 0, 0, false
	}
	return uint64(p.blocks[0].sample) << (32 - p.blocks[0].start), s.to, true
}

// stepOf returns the index of the step of a part.
func (p *Plan) stepOf(part int) int {
	return sort.Search(len(p.steps), func(i int) bool { return p.steps[i].first+p.steps[i].parts > part })
}

// cells returns the range of cells that a part of step s covers.
func (p *Plan) cells(s *step, part int) (from, to int) {
	l := p.blocks[s.block]
	if s.sample {
		return 0, l.sample
	}
	r := s.lead + part - s.first
	return max(l.bound(r), s.skip), l.bound(r + 1)
}

// EncodedBytes predicts the size of the first parts, without header and chain, to about 1 %. O(log parts).
func (p *Plan) EncodedBytes(parts int) int {
	if parts <= 0 {
		return 0
	}
	if parts >= p.parts {
		return p.bytes
	}
	s := &p.steps[p.stepOf(parts)]
	if parts == s.first {
		return s.offset
	}
	_, to := p.cells(s, parts-1)
	all := 1 << p.blocks[s.block].start
	return s.offset + scale(s.bytes, to-s.skip, all-s.skip)
}

// partsWithin returns the greatest number of parts that are predicted to fit in the given bytes. O(log² parts).
func (p *Plan) partsWithin(bytes int) int {
	return sort.Search(p.parts, func(i int) bool { return p.EncodedBytes(i+1) > bytes })
}

// maxPartBytes returns the most bytes that a decoder accepts for a part, at most [maxPartBytes].
func (p *Plan) maxPartBytes(part int) int {
	predicted := p.EncodedBytes(part+1) - p.EncodedBytes(part)
	return min(maxPartBytes, predicted+predicted/4+256)
}

// ExpectedRate predicts the false-positive rate of a prefix of the given number of parts. O(blocks · steps).
func (p *Plan) ExpectedRate(parts int) float64 {
	rate := 1.0
	for i := range p.blocks {
		known := p.knowledge(i, parts)
		if len(known) == 0 {
			break
		}
		rate *= p.expectedFill(i, known)
	}
	return rate
}

// expectedFill returns the expected share of hash space that a block does not rule out if the given regions are known.
func (p *Plan) expectedFill(block int, known []trie.Region) float64 {
	cells := float64(int(1) << p.blocks[block].start)
	hit := 1.0
	for _, r := range known {
		fill := -math.Expm1(-math.Ldexp(float64(p.N), -r.Level))
		hit -= float64(float64(r.End-r.Begin) / cells * (1 - fill))
	}
	return hit
}

// knowledge returns the regions that a prefix of the given number of parts knows of a block, in the order of hash
// space.
func (p *Plan) knowledge(block, parts int) []trie.Region {
	var known []trie.Region
	for i := range p.steps {
		s := &p.steps[i]
		if s.block == block && s.first < parts {
			_, end := p.cells(s, min(parts, s.first+s.parts)-1)
			known = refine(known, trie.Region{Begin: s.skip, End: end, Level: s.to})
		}
	}
	return known
}

// begun reports whether a part of the block is among the given number of first parts.
func (p *Plan) begun(block, parts int) bool {
	for i := range p.steps {
		if p.steps[i].block == block {
			return p.steps[i].first < parts
		}
	}
	return false
}

// lastSteps are the steps that give the known state of a block: the sample, and the last step of each range.
type lastSteps struct {
	sample *step
	ranges []*step
}

// last returns the last steps of a block in a prefix of the given number of parts.
func (p *Plan) last(block, parts int) lastSteps {
	last := lastSteps{ranges: make([]*step, p.blocks[block].ranges)}
	for i := range p.steps {
		s := &p.steps[i]
		if s.block != block || s.first >= parts {
			continue
		}
		if s.sample {
			last.sample = s
			continue
		}
		for part := s.first; part < min(parts, s.first+s.parts); part++ {
			last.ranges[s.lead+part-s.first] = s
		}
	}
	return last
}

// refine puts r in place of the regions, or pieces of them, that cover its cells. Regions are in order.
func refine(regions []trie.Region, r trie.Region) []trie.Region {
	var before, after []trie.Region
	for _, o := range regions {
		if o.Begin < r.Begin {
			before = append(before, trie.Region{Begin: o.Begin, End: min(o.End, r.Begin), Level: o.Level})
		}
		if o.End > r.End {
			after = append(after, trie.Region{Begin: max(o.Begin, r.End), End: o.End, Level: o.Level})
		}
	}
	return append(append(before, r), after...)
}
