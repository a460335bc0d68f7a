package summary

import (
	"fmt"
	"sort"
)

// sizing is a shape, the number of parts of its stream to use, and their predicted size and false-positive rate.
type sizing struct {
	shape Shape
	parts int
	bytes int     // predicted bytes of the parts
	rate  float64 // false-positive rate
}

// ShapeForBytes returns a shape for n keys, and the number of parts of its stream that fit in the given bytes. No other
// shape has a lower false-positive rate in these bytes. [NewPlan] predicts size and rate of the parts. The sample takes
// an eighth of the bytes, up to the usual size. From about three bits a key on, the shape has one block, as deep as the
// bytes reach. With fewer bits, one or two shallow blocks may follow. ErrLimit for fewer than 64 bytes. It takes some
// milliseconds.
func ShapeForBytes(n, bytes int) (s Shape, parts int, err error) {
	best, err := sizeForBytes(n, bytes)
	return best.shape, best.parts, err
}

// sizeForBytes returns the sizing of ShapeForBytes. It tries ever deeper blocks, until they begin with the same parts.
func sizeForBytes(n, bytes int) (sizing, error) {
	best := sizing{rate: 2}
	for depth := 0; depth <= maxDepth && bytes >= 64; depth++ {
		whole := false
		for _, s := range sizings(n, depth, min(defaultSampleBytes, bytes/8)) {
			plan, err := NewPlan(n, s.shape)
			if err != nil {
				break // deeper than fingerprints reach
			}
			if s = s.cut(plan, plan.partsWithin(bytes)); s.parts > 0 && s.rate < best.rate {
				best = s
			}
			whole = whole || s.parts == plan.Parts()
		}
		if !whole {
			break // deeper blocks begin with the same parts
		}
	}
	if best.parts == 0 {
		return sizing{}, fmt.Errorf("summary: %d keys in %d bytes: %w", n, bytes, ErrLimit)
	}
	return best, nil
}

// ShapeForRate returns a shape for n keys, and the number of parts of its stream that reach a false-positive rate. No
// other shape does so in fewer bytes, after the usual sample. [NewPlan] predicts size and rate of those parts. ErrLimit
// for a rate below the least that fingerprints allow, about n/2^48, or below 2^-32. It takes some milliseconds.
func ShapeForRate(n int, rate float64) (s Shape, parts int, err error) {
	best, err := sizeForRate(n, rate)
	return best.shape, best.parts, err
}

// sizeForRate returns the sizing of ShapeForRate. It tries ever deeper blocks, until they begin with the same parts.
func sizeForRate(n int, rate float64) (sizing, error) {
	var best sizing
	for depth := 0; depth <= maxDepth; depth++ {
		for _, s := range sizings(n, depth, defaultSampleBytes) {
			plan, err := NewPlan(n, s.shape)
			if err != nil {
				break
			}
			if plan.ExpectedRate(plan.Parts()) > rate {
				continue
			}
			if s = s.cut(plan, partsFor(plan, rate)); best.parts == 0 || s.bytes < best.bytes {
				best = s
			}
		}
		if best.parts > 0 && best.shape.Levels[0] < uint8(ceilLog2(n)+depth) {
			break // deeper blocks begin with the same parts
		}
	}
	if best.parts == 0 {
		return sizing{}, fmt.Errorf("summary: rate %g for %d keys: %w", rate, n, ErrLimit)
	}
	return best, nil
}

// sizings returns the shapes worth a try, the plainest first: a block at depth levels beyond log2 of the keys, alone or
// before one or two shallow blocks.
func sizings(n, depth, sample int) []sizing {
	level, shallow := uint8(max(1, ceilLog2(n)+depth)), max(1, floorLog2(n))
	var out []sizing
	for _, more := range [][]uint8{nil, {shallow}, {shallow + 1}, {shallow, shallow}} {
		s := DefaultShape(n)
		s.SampleBytes = sample
		s.Levels = append([]uint8{level}, more...)
		out = append(out, sizing{shape: s})
	}
	return out
}

// cut returns s with the given number of parts, and their size and rate by the plan.
func (s sizing) cut(p *Plan, parts int) sizing {
	s.parts, s.bytes, s.rate = parts, p.EncodedBytes(parts), p.ExpectedRate(parts)
	return s
}

// partsFor returns the fewest parts with at most the given rate. The plan's whole stream must reach the rate.
func partsFor(p *Plan, rate float64) int {
	return sort.Search(p.Parts(), func(parts int) bool { return p.ExpectedRate(parts) <= rate })
}
