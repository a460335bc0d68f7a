package summary

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// EstimateOwnOverlap estimates how many of one's own distinct fingerprints a prefix's collection holds, by testing
// them. If hits of n1 fingerprints match, and f is the prefix's false-positive rate, the collection holds about
// n12 = (hits - f n1)/(1-f). It is better than EstimateOverlap where the prefix is dense. Confidence is above 0,
// below 1. The fingerprints must be of the prefix's seed: this is not checked. O(n1).
func EstimateOwnOverlap(own []Fingerprint, p *Prefix, confidence float64) (estimate.Overlap, error) {
	if err := checkConfidence(confidence); err != nil {
		return estimate.Overlap{}, err
	}
	n1, n2 := float64(len(own)), float64(p.plan.N)
	tests := testOwn(own, p)
	if len(tests) == 0 || n1 == 0 {
		return newOverlap(n1, n2, unknownInterval(n1, n2, confidence), "nothing known"), nil
	}
	most := min(n1, n2)
	best := bestTest(tests, n1, most/10)
	best = bestTest(tests, n1, best.estimate(n1, most, confidence).Value)
	method := fmt.Sprintf("own keys tested in %.3g %% of hash space", 100*best.share)
	return newOverlap(n1, n2, best.estimate(n1, most, confidence).score(most), method), nil
}

// ownTest is the result of testing own keys in a part of hash space.
type ownTest struct {
	share  float64 // share of hash space in the part
	tested float64 // number of own keys in the part
	found  float64 // estimated number held: the hits less the false positives
	noise  float64 // sum of tested f/(1-f) over the part's regions
}

// testOwn tests all fingerprints. For each level it sums up the regions that the prefix knows at that level or deeper.
func testOwn(own []Fingerprint, p *Prefix) []ownTest {
	if len(p.tries) == 0 {
		return nil
	}
	t := p.tries[0]
	regions := t.Regions()
	tested, hits := make([]float64, len(regions)), make([]float64, len(regions))
	for _, f := range own {
		cell := int(position(f, 0) >> (64 - t.Start))
		r, exact := slices.BinarySearchFunc(regions, cell, func(r trie.Region, cell int) int { return r.Begin - cell })
		if !exact {
			r--
		}
		if r >= 0 && cell < regions[r].End {
			tested[r]++
			if p.Contains(f) {
				hits[r]++
			}
		}
	}
	full, others := fills(t), rateOf(p.tries[1:])
	for r := range full {
		full[r] *= others
	}
	return sumTests(regions, tested, hits, full, float64(int(1)<<t.Start))
}

// sumTests adds up, for each level, the regions known at it or deeper, without the full ones.
func sumTests(regions []trie.Region, tested, hits, fills []float64, cells float64) []ownTest {
	var tests []ownTest
	for _, level := range levelsOf(regions) {
		var sum ownTest
		for i, r := range regions {
			if f := fills[i]; r.Level >= level && f < 1 {
				sum.share += float64(r.End-r.Begin) / cells
				sum.tested += tested[i]
				sum.found += float64((hits[i] - float64(f*tested[i])) / (1 - f))
				sum.noise += tested[i] * f / (1 - f)
			}
		}
		if sum.tested > 0 {
			tests = append(tests, sum)
		}
	}
	return tests
}

// fills returns the shares of ones in the pieces of t.
func fills(t *trie.Block) []float64 {
	var out []float64
	for _, p := range t.Pieces() {
		out = append(out, float64(p.Count())/math.Ldexp(float64(p.End-p.Begin), p.Set.Depth()))
	}
	return out
}

// variance returns the variance of the estimate if c of n1 keys are held. It comes from false positives among the
// other keys, and from the held keys in the untested part of hash space.
func (t ownTest) variance(n1, c float64) float64 {
	scale := n1 / t.tested
	return float64(scale*scale*t.noise*(1-c/n1)) + float64(c*(1-c/n1)*max(0, 1-t.share)/t.share)
}

func (t ownTest) estimate(n1, most, confidence float64) estimated {
	value := min(max(0, t.found*n1/t.tested), most)
	return estimated{
		estimate.Interval{Value: value, Confidence: confidence},
		func(c float64) float64 { return math.Sqrt(t.variance(n1, c)) },
	}
}

// bestTest returns the test of least variance if c keys are held.
func bestTest(tests []ownTest, n1, c float64) ownTest {
	return slices.MinFunc(tests, func(a, b ownTest) int { return cmp.Compare(a.variance(n1, c), b.variance(n1, c)) })
}
