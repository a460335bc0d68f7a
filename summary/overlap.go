package summary

import (
	"fmt"
	"math"
	"slices"
)

// Overlap is what two summaries, or a collection and a summary, tell about how much two collections share.
type Overlap struct {
	N1, N2       float64  // keys of the first and the second, exact
	Intersection Interval // keys of both; Saturated when nothing can be told: then only 0 and min(N1, N2) bound it
	Union        Interval // keys of either
	Jaccard      float64  // share of the union that both have
	Containment  float64  // share of the first that the second has
	Method       string   // what the estimate comes from, for people
}

// EstimateOverlap estimates from two prefixes, of any depth and shape, how many keys their collections share, with an interval
// of the given confidence (above 0, below 1). ErrSeed when they were made under different seeds.
//
// Both are brought to a common level, in all of hash space or where both are known deeper: whichever of these
// predicts the least variance is counted. From the ones t1, t2 and t12 of both and of their AND, each size is S⁻¹(t) = -m
// ln(1-t/L), which gives |A∩B| = S⁻¹(t1)+S⁻¹(t2)-S⁻¹(t1+t2-t12): equation 6 of Papapetrou et al. (2010). As the headers say
// n1 and n2 exactly, the errors of S⁻¹(t1) and S⁻¹(t2) are known, and what of the error of the rest goes with them
// is taken out. O(n1+n2).
func EstimateOverlap(a, b *Prefix, confidence float64) (Overlap, error) {
	if a.header.Seed != b.header.Seed {
		return Overlap{}, fmt.Errorf("summary: overlap of %v and %v: %w", a.header.Seed, b.header.Seed, ErrSeed)
	}
	z, err := quantile(confidence)
	if err != nil {
		return Overlap{}, err
	}
	n1, n2 := float64(a.header.N), float64(b.header.N)
	cuts := commonCuts(a, b)
	if len(cuts) == 0 {
		return newOverlap(n1, n2, unknownInterval(n1, n2, confidence), "nothing known"), nil
	}
	pilot := bestCut(cuts, n1, n2, min(n1, n2)/10).measure(a, b, n1, n2)
	best := bestCut(cuts, n1, n2, pilot.value)
	e := best.measure(a, b, n1, n2)
	return newOverlap(n1, n2, e.interval(z, confidence, min(n1, n2)), best.String()), nil
}

// quantile is how many standard deviations a normal interval of some confidence reaches to either side.
func quantile(confidence float64) (float64, error) {
	if !(confidence > 0 && confidence < 1) {
		return 0, fmt.Errorf("summary: confidence %v is not between 0 and 1: %w", confidence, ErrLimit)
	}
	return math.Sqrt2 * math.Erfinv(confidence), nil
}

func newOverlap(n1, n2 float64, i Interval, method string) Overlap {
	u := i
	u.Value, u.Low, u.High = n1+n2-i.Value, n1+n2-i.High, n1+n2-i.Low
	o := Overlap{N1: n1, N2: n2, Intersection: i, Union: u, Method: method}
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

// unknownInterval says that nothing is known but the sizes.
func unknownInterval(n1, n2, confidence float64) Interval {
	if n1 == 0 || n2 == 0 {
		return Interval{Confidence: confidence}
	}
	return Interval{Value: math.Inf(1), High: min(n1, n2), Confidence: confidence, Saturated: true}
}

// cutting is a part of a block's hash space that two prefixes both know at least at some level.
type cutting struct {
	block  int
	level  int
	pieces []piece
	bits   float64 // of the pieces at that level
}

// piece is the nodes begin to end-1 of a level.
type piece struct{ begin, end uint64 }

func (c *cutting) String() string {
	return fmt.Sprintf("and-merge of block %d at level %d, %.3g of hash space", c.block, c.level, c.bits/math.Ldexp(1, c.level))
}

// commonCuts are the cuttings of the blocks that both prefixes know something of, one for each level.
func commonCuts(a, b *Prefix) []cutting {
	var cuts []cutting
	for block := range min(len(a.tries), len(b.tries)) {
		regions := commonRegions(a.tries[block], b.tries[block])
		var levels []int
		for _, r := range regions {
			levels = append(levels, r.level)
		}
		slices.Sort(levels)
		for _, level := range slices.Compact(levels) {
			c := cutting{block: block, level: level}
			for _, r := range regions {
				if r.level >= level {
					c.add(r, max(a.tries[block].start, b.tries[block].start))
				}
			}
			if c.align(); c.bits > 0 {
				cuts = append(cuts, c)
			}
		}
	}
	return cuts
}

// add appends a region of cells, in units of a start level, to the pieces, in units of 2^-64 of hash space.
func (c *cutting) add(r region, start uint8) {
	begin, end := uint64(r.begin)<<(63-start), uint64(r.end)<<(63-start) // halves, so that the end of all fits
	if n := len(c.pieces); n > 0 && c.pieces[n-1].end == begin {
		c.pieces[n-1].end = end
		return
	}
	c.pieces = append(c.pieces, piece{begin, end})
}

// align turns the pieces into whole nodes of the level.
func (c *cutting) align() {
	unit := 63 - c.level
	for i, p := range c.pieces {
		p = piece{(p.begin + 1<<unit - 1) >> unit, p.end >> unit}
		p.end = max(p.begin, p.end)
		c.pieces[i] = p
		c.bits += float64(p.end - p.begin)
	}
}

// commonRegions is what two tries both know, in cells of the later start level, at the lower of their levels.
func commonRegions(a, b *trie) []region {
	start := max(a.start, b.start)
	ra, rb := a.regions(start), b.regions(start)
	var out []region
	for len(ra) > 0 && len(rb) > 0 {
		begin, end := max(ra[0].begin, rb[0].begin), min(ra[0].end, rb[0].end)
		if begin < end {
			out = append(out, region{begin, end, min(ra[0].level, rb[0].level)})
		}
		if ra[0].end <= end {
			ra = ra[1:]
		}
		if rb[0].end <= end {
			rb = rb[1:]
		}
	}
	return out
}

// regions is what t knows, in cells of a level not above its start.
func (t *trie) regions(start uint8) []region {
	var out []region
	finer := start - t.start
	t.each(func(s *set, begin, end int) {
		out = append(out, region{begin << finer, end << finer, s.level(t.start)})
	})
	return out
}

// bestCut is the cutting of least variance if the intersection has c keys.
func bestCut(cuts []cutting, n1, n2, c float64) *cutting {
	best, least := &cuts[0], math.Inf(1)
	for i := range cuts {
		v := cuts[i].variance(n1, n2)
		v.calibrate(c)
		if sd := v.at(c); sd < least {
			best, least = &cuts[i], sd
		}
	}
	return best
}

// variance is the variance of an estimate from L of m bits, by the delta method: the covariance of the estimated sizes
// of two sets that share x keys a bit is h(x) = m ((m/L)(e^x-1) - x).
type variance struct {
	m, l   float64
	n1, n2 float64
	a, b   float64 // weights of the errors of the estimates of n1 and n2
}

func (c *cutting) variance(n1, n2 float64) variance {
	return variance{m: math.Ldexp(1, c.level), l: c.bits, n1: n1, n2: n2}
}

// h is the covariance for sets that share n keys.
func (v *variance) h(n float64) float64 {
	x := max(n, 0) / v.m
	return v.m * (v.m/v.l*math.Expm1(x) - x)
}

// calibrate sets the weights that give the least variance for an intersection of c keys: those that solve a h1 + b h12 = h1
// and a h12 + b h2 = h2. Without an intersection both are 1.
func (v *variance) calibrate(c float64) {
	h1, h2, h12 := v.h(v.n1), v.h(v.n2), v.h(c)
	det := h1*h2 - h12*h12
	if det <= 1e-9*h1*h2 {
		v.a, v.b = 0.5, 0.5 // the same set twice
		return
	}
	v.a, v.b = h2*(h1-h12)/det, h1*(h2-h12)/det
}

// at is the variance for an intersection of c keys.
func (v *variance) at(c float64) float64 {
	h1, h2 := v.h(v.n1), v.h(v.n2)
	return max(0, v.h(v.n1+v.n2-c)+v.a*v.a*h1+v.b*v.b*h2+2*v.a*v.b*v.h(c)-2*v.a*h1-2*v.b*h2)
}

// estimated is an estimate of an intersection and its variance.
type estimated struct {
	value     float64
	variance  func(c float64) float64
	saturated bool
}

// measure counts the ones of both sides and their AND and estimates.
func (c *cutting) measure(a, b *Prefix, n1, n2 float64) estimated {
	t1, t2, both := c.count(a.tries[c.block], b.tries[c.block])
	v := c.variance(n1, n2)
	either := t1 + t2 - both
	if either >= c.bits {
		return estimated{saturated: true}
	}
	size := func(ones float64) float64 { return -v.m * math.Log1p(-ones/v.l) }
	e1, e2 := size(t1)-n1, size(t2)-n2
	value := e1 + e2 + n1 + n2 - size(either)
	for range 4 { // the weights depend on the estimate
		v.calibrate(min(max(value, 0), n1, n2))
		value = n1 + n2 - size(either) + v.a*e1 + v.b*e2
	}
	return estimated{value: min(max(value, 0), n1, n2), variance: v.at}
}

// count is the ones of two tries and of their AND, where c says.
func (c *cutting) count(a, b *trie) (t1, t2, both float64) {
	var n1, n2, n12 int
	for _, p := range c.pieces {
		x, y := a.walk(p, c.level), b.walk(p, c.level)
		v, okV := x.next()
		w, okW := y.next()
		for okV && okW {
			switch {
			case v < w:
				n1++
				v, okV = x.next()
			case w < v:
				n2++
				w, okW = y.next()
			default:
				n1, n2, n12 = n1+1, n2+1, n12+1
				v, okV = x.next()
				w, okW = y.next()
			}
		}
		for ; okV; _, okV = x.next() {
			n1++
		}
		for ; okW; _, okW = y.next() {
			n2++
		}
	}
	return float64(n1), float64(n2), float64(n12)
}

// interval is the score interval of an estimate: all c that lie within z standard deviations, as they are at c, of the value.
// For few keys it covers better than one of fixed width.
func (e estimated) interval(z, confidence, most float64) Interval {
	if e.saturated {
		return Interval{Value: math.Inf(1), High: most, Confidence: confidence, Saturated: true}
	}
	low := bisect(0, e.value, func(c float64) bool { return c+z*math.Sqrt(e.variance(c)) >= e.value })
	high := bisect(e.value, most, func(c float64) bool { return c-z*math.Sqrt(e.variance(c)) > e.value })
	return Interval{Value: e.value, Low: low, High: high, Confidence: confidence}
}

// bisect is the least value from low to high that is beyond, high if none is.
func bisect(low, high float64, beyond func(float64) bool) float64 {
	if beyond(low) {
		return low
	}
	for range 60 {
		if mid := low + (high-low)/2; beyond(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// walk goes through the nodes of a trie in a piece of a level, which is not below what the trie knows there.
func (t *trie) walk(p piece, level int) walker {
	w := walker{t: t, piece: p, level: level, last: ^uint64(0)}
	t.each(func(s *set, begin, end int) {
		w.sets = append(w.sets, s)
		w.begins = append(w.begins, begin)
		w.ends = append(w.ends, end)
	})
	w.open()
	return w
}

// walker walks through folded nodes in order.
type walker struct {
	t            *trie
	piece        piece
	level        int
	sets         []*set // not yet opened
	begins, ends []int
	it           setIterator
	limit        uint64 // first node of the set behind its cells
	lower        int
	last         uint64
}

// open goes to the next set, false if there is none.
func (w *walker) open() bool {
	for len(w.sets) > 0 {
		s, begin, end := w.sets[0], w.begins[0], w.ends[0]
		w.sets, w.begins, w.ends = w.sets[1:], w.begins[1:], w.ends[1:]
		if up := w.level - int(w.t.start); up >= 0 {
			begin, end = max(begin, int(w.piece.begin>>up)), min(end, int((w.piece.end+1<<up-1)>>up))
		} else {
			begin, end = max(begin, int(w.piece.begin<<-up)), min(end, int(w.piece.end<<-up))
		}
		if begin < end {
			w.it, w.limit, w.lower = s.from(begin), uint64(end)<<s.depth, s.level(w.t.start)-w.level
			return true
		}
	}
	return false
}

func (w *walker) next() (node uint64, ok bool) {
	for w.it.s != nil {
		v, ok := w.it.next()
		if !ok || v >= w.limit {
			if !w.open() {
				return 0, false
			}
			continue
		}
		if v >>= w.lower; v == w.last || v < w.piece.begin {
			continue
		}
		if v >= w.piece.end {
			return 0, false
		}
		w.last = v
		return v, true
	}
	return 0, false
}
