package summary

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/summary/internal/trie"
	"github.com/venn-p2p/venn/summary/internal/variance"
)

// EstimateOverlap estimates how many keys the collections of two prefixes share, with an interval of the given
// confidence (above 0, below 1). The prefixes may be of any depth and shape. It returns ErrSeed if they were made under
// different seeds.
//
// It compares both at a common level, in all of hash space or only where both are known deeper: the choice has the
// least predicted variance. There it counts the ones of both and of their AND: t1, t2 and t12. A count t stands for
// S⁻¹(t) = -m ln(1-t/L) keys. So |A∩B| = S⁻¹(t1)+S⁻¹(t2)-S⁻¹(t1+t2-t12), equation 6 of Papapetrou et al. (2010). The
// headers give n1 and n2 exactly, so the errors of S⁻¹(t1) and S⁻¹(t2) are known. The part of the third error that
// correlates with them is subtracted. O(n1+n2).
func EstimateOverlap(a, b *Prefix, confidence float64) (estimate.Overlap, error) {
	if err := oneSeed(a, b); err != nil {
		return estimate.Overlap{}, err
	}
	if err := checkConfidence(confidence); err != nil {
		return estimate.Overlap{}, err
	}
	n1, n2 := float64(a.plan.N), float64(b.plan.N)
	areas := commonAreas(a, b)
	if len(areas) == 0 {
		return newOverlap(n1, n2, unknownInterval(n1, n2, confidence), "nothing known"), nil
	}
	best := bestArea(areas, n1, n2, min(n1, n2)/10)
	e, err := best.measure(a, b, n1, n2, confidence)
	if err != nil {
		return estimate.Overlap{}, err
	}
	if better := bestArea(areas, n1, n2, min(e.Value, n1, n2)); better != best {
		best = better
		if e, err = best.measure(a, b, n1, n2, confidence); err != nil {
			return estimate.Overlap{}, err
		}
	}
	return newOverlap(n1, n2, e.score(min(n1, n2)), best.String()), nil
}

func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return fmt.Errorf("summary: confidence %v is not between 0 and 1: %w", confidence, ErrLimit)
	}
	return nil
}

// newOverlap returns the overlap of two sets of known sizes, given the interval of their intersection.
func newOverlap(n1, n2 float64, i estimate.Interval, method string) estimate.Overlap {
	u := i
	u.Value, u.Low, u.High = n1+n2-i.Value, n1+n2-i.High, n1+n2-i.Low
	o := estimate.Overlap{N1: n1, N2: n2, Intersection: i, Union: u, Method: method}
	if i.Saturated {
		o.Union.Value = i.Value
		return o
	}
	if u.Value > 0 {
		o.Jaccard = i.Value / u.Value
	}
	if n1 > 0 {
		o.Containment = i.Value / n1
	}
	return o
}

// unknownInterval returns the interval of the intersection if only the sizes n1 and n2 are known.
func unknownInterval(n1, n2, confidence float64) estimate.Interval {
	if n1 == 0 || n2 == 0 {
		return estimate.Interval{Confidence: confidence}
	}
	return estimate.Interval{Value: math.Inf(1), High: min(n1, n2), Confidence: confidence, Saturated: true}
}

// area is the part of a block's hash space that two prefixes both know at a level or deeper.
type area struct {
	block int
	level int
	spans []trie.Span
	bits  uint64 // number of bits in the spans at that level
}

func (c *area) String() string {
	return fmt.Sprintf("and-merge of block %d at level %d, %.3g of hash space", c.block, c.level, math.Ldexp(float64(c.bits), -c.level))
}

// commonAreas returns the areas of the blocks that both prefixes have begun, one for each level of a common region.
func commonAreas(a, b *Prefix) []area {
	var areas []area
	as, bs := a.tries, b.tries
	for block := range min(len(as), len(bs)) {
		regions, start := trie.Common(as[block], bs[block])
		for _, level := range levelsOf(regions) {
			c := area{block: block, level: level}
			for _, r := range regions {
				if r.Level >= level {
					c.add(r, start)
				}
			}
			if c.align(); c.bits > 0 {
				areas = append(areas, c)
			}
		}
	}
	return areas
}

// levelsOf returns the levels of regions, each once, in order.
func levelsOf(regions []trie.Region) []int {
	levels := make([]int, len(regions))
	for i, r := range regions {
		levels[i] = r.Level
	}
	slices.Sort(levels)
	return slices.Compact(levels)
}

// add appends a region of cells of a start level to the spans, in units of 2^-63 of hash space.
func (c *area) add(r trie.Region, start uint8) {
	begin, end := uint64(r.Begin)<<(63-start), uint64(r.End)<<(63-start) // 2^-63, so that the end fits
	if n := len(c.spans); n > 0 && c.spans[n-1].End == begin {
		c.spans[n-1].End = end
		return
	}
	c.spans = append(c.spans, trie.Span{Begin: begin, End: end})
}

// align rounds each span inwards to whole nodes of the level, in units of one node, and adds up their number in bits.
func (c *area) align() {
	unit := 63 - c.level
	for i, s := range c.spans {
		begin := (s.Begin + 1<<unit - 1) >> unit
		end := max(begin, s.End>>unit)
		c.spans[i] = trie.Span{Begin: begin, End: end}
		c.bits += end - begin
	}
}

// bestArea returns the area of least variance if the intersection has c keys.
func bestArea(areas []area, n1, n2, c float64) *area {
	best, least := &areas[0], math.Inf(1)
	for i := range areas {
		if d := areas[i].deviation(n1, n2, c); d < least {
			best, least = &areas[i], d
		}
	}
	return best
}

// array describes the filter whose bits are counted.
func (c *area) array() estimate.Array {
	return estimate.Array{Bits: 1 << c.level, Sample: c.bits}
}

// measure counts the ones of both sides and of their AND, and estimates the intersection from them.
func (c *area) measure(a, b *Prefix, n1, n2 float64, confidence float64) (estimated, error) {
	i, err := c.array().EstimateIntersection(c.count(a.tries[c.block], b.tries[c.block]), n1, n2, confidence)
	return estimated{i, func(n12 float64) float64 { return c.deviation(n1, n2, n12) }}, err
}

// deviation returns the standard deviation of the estimate for sets of n1 and n2 keys, n12 of them common.
func (c *area) deviation(n1, n2, n12 float64) float64 {
	v := variance.Array{Bits: float64(uint64(1) << c.level), Blocks: 1, Hashes: 1, Counted: float64(c.bits)}
	_, _, left := v.Control(variance.Loads{First: v.Load(n1), Second: v.Load(n2), Both: v.Load(n12)})
	return math.Sqrt(left)
}

// count returns the ones of two tries and of their AND, in the spans and at the level of c.
func (c *area) count(a, b *trie.Block) (counts estimate.Counts) {
	var x, y trie.Walker
	for _, s := range c.spans {
		x.Reset(a, s, c.level)
		y.Reset(b, s, c.level)
		v, w := x.Next(), y.Next()
		for len(v) > 0 && len(w) > 0 {
			i, j, both := matches(v, w)
			counts.First, counts.Second, counts.Both = counts.First+i, counts.Second+j, counts.Both+both
			if v = v[i:]; len(v) == 0 {
				v = x.Next()
			}
			if w = w[j:]; len(w) == 0 {
				w = y.Next()
			}
		}
		for ; len(v) > 0; v = x.Next() {
			counts.First += len(v)
		}
		for ; len(w) > 0; w = y.Next() {
			counts.Second += len(w)
		}
	}
	return counts
}

// matches merges v and w until one is used up. It returns how many nodes of each it took, and how many of these were in
// both. It compiles without a jump that depends on the nodes.
func matches(v, w []uint64) (i, j, both int) {
	for i < len(v) && j < len(w) {
		a, b := v[i], w[j]
		_, less := bits.Sub64(a, b, 0)
		_, more := bits.Sub64(b, a, 0)
		i += 1 - int(more)
		j += 1 - int(less)
		both += 1 - int(less|more)
	}
	return i, j, both
}

// estimated is an estimate of an intersection, and its standard deviation if the intersection has c keys.
type estimated struct {
	estimate.Interval
	deviation func(c float64) float64
}

// score sets the Wilson score interval of an estimate: every c in [0, most] whose own standard deviation puts the value
// within z deviations of c. The confidence gives z. For few keys it covers better than the normal interval, which takes
// the deviation at the value.
func (e estimated) score(most float64) estimate.Interval {
	if e.Saturated {
		e.High = most
		return e.Interval
	}
	z := math.Sqrt2 * math.Erfinv(e.Confidence)
	e.Low = bisect(0, e.Value, func(c float64) bool { return c+float64(z*e.deviation(c)) >= e.Value })
	e.High = bisect(e.Value, most, func(c float64) bool { return c-float64(z*e.deviation(c)) > e.Value })
	return e.Interval
}

// bisect returns the least value from low to high for which beyond is true; high if there is none.
func bisect(low, high float64, beyond func(float64) bool) float64 {
	if beyond(low) {
		return low
	}
	for range 60 {
		if mid := low + float64((high-low)/2); beyond(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
