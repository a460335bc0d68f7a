package summary

import (
	"fmt"
	"sort"
)

// Sizing is a shape and how much of its stream to use.
type Sizing struct {
	Shape Shape
	Parts int
	Bytes int     // predicted, of the parts
	Rate  float64 // predicted false-positive rate
}

// SizeForBytes returns the shape, and the prefix of its stream, of least false-positive rate for n keys in the given
// bytes. The sample takes an eighth of them, up to the usual size. From about three bits a key on, the shape has one
// block, as deep as the bytes reach. Below, one or two shallow blocks may follow it. ErrLimit for fewer than 64 bytes.
// It takes some milliseconds.
func SizeForBytes(n, bytes int) (Sizing, error) {
	best := Sizing{Rate: 2}
	for depth := 0; depth <= maxDepth && bytes >= 64; depth++ {
		whole := false
		for _, s := range sizings(n, depth, min(defaultSampleBytes, bytes/8)) {
			plan, err := NewPlan(n, s.Shape)
			if err != nil {
				break // deeper than fingerprints reach
			}
			if s = s.cut(plan, plan.PartsWithin(bytes)); s.Parts > 0 && s.Rate < best.Rate {
				best = s
			}
			whole = whole || s.Parts == plan.Parts()
		}
		if !whole {
			break // deeper blocks begin with the same parts
		}
	}
	if best.Parts == 0 {
		return Sizing{}, fmt.Errorf("summary: %d keys in %d bytes: %w", n, bytes, ErrLimit)
	}
	return best, nil
}

// SizeForRate is the shape and the prefix of least size for n keys with at most a false-positive rate, after the usual
// sample. ErrLimit for a rate below what fingerprints allow, about n/2^48, or below 2^-32. It takes some milliseconds.
func SizeForRate(n int, rate float64) (Sizing, error) {
	var best Sizing
	for depth := 0; depth <= maxDepth; depth++ {
		for _, s := range sizings(n, depth, defaultSampleBytes) {
			plan, err := NewPlan(n, s.Shape)
			if err != nil {
				break
			}
			if plan.FalsePositiveRate(plan.Parts()) > rate {
				continue
			}
			if s = s.cut(plan, partsFor(plan, rate)); best.Parts == 0 || s.Bytes < best.Bytes {
				best = s
			}
		}
		if best.Parts > 0 && best.Shape.Levels[0] < uint8(ceilLog2(n)+depth) {
			break // deeper blocks begin with the same parts
		}
	}
	if best.Parts == 0 {
		return Sizing{}, fmt.Errorf("summary: rate %g for %d keys: %w", rate, n, ErrLimit)
	}
	return best, nil
}

// sizings are the shapes worth a try, the plainest first: a block some levels below log2 of the keys, alone or before
// shallow ones.
func sizings(n, depth, sample int) []Sizing {
	level, shallow := uint8(max(1, ceilLog2(n)+depth)), max(1, floorLog2(n))
	var out []Sizing
	for _, more := range [][]uint8{nil, {shallow}, {shallow + 1}, {shallow, shallow}} {
		s := DefaultShape(n)
		s.SampleBytes = sample
		s.Levels = append([]uint8{level}, more...)
		out = append(out, Sizing{Shape: s})
	}
	return out
}

// cut is s for the first parts of its plan.
func (s Sizing) cut(p *Plan, parts int) Sizing {
	s.Parts, s.Bytes, s.Rate = parts, p.EncodedBytes(parts), p.FalsePositiveRate(parts)
	return s
}

// partsFor is the fewest parts with at most a rate, which the plan reaches.
func partsFor(p *Plan, rate float64) int {
	return sort.Search(p.Parts(), func(parts int) bool { return p.FalsePositiveRate(parts) <= rate })
}
