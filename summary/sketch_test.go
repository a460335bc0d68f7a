package summary

import (
	"math"
	"slices"
	"testing"
)

// thetaSketch is the k least hashes of a set (Dasgupta et al., "A framework for estimating stream expression
// cardinalities", 2016), in 8 bytes each.
func thetaSketch(keys []Fingerprint, k int) []uint64 {
	const rare = 16 // only hashes likely among the least are sorted
	limit := uint64(float64(k) / float64(len(keys)) * 1.5 * math.Exp2(64))
	if k*rare/10 > len(keys) {
		limit = math.MaxUint64
	}
	var hashes []uint64
	for _, f := range keys {
		if x := position(f, 1000); x < limit {
			hashes = append(hashes, x)
		}
	}
	slices.Sort(hashes)
	return hashes[:k]
}

// thetaIntersection is the common hashes below the least of both thresholds, scaled up.
func thetaIntersection(a, b []uint64) float64 {
	theta := min(a[len(a)-1], b[len(b)-1])
	_, _, both := matches(a, b)
	for i := range a { // the last may be among them, and is the threshold
		if a[i] == theta && slices.Contains(b, theta) {
			both--
		}
	}
	return float64(both) / (float64(theta) / math.Exp2(64))
}

// TestSketches compares the error of overlaps from samples with that of theta sketches of the same bytes.
func TestSketches(t *testing.T) {
	trials := max(6, *trials/25)
	const n = 100_000
	for _, bytes := range []int{4 << 10, 16 << 10, 60 << 10} {
		shape := DefaultShape(n)
		shape.SampleBytes = bytes
		if bytes > 32<<10 { // it takes in so much of hash space that a lower level would add false matches, not keys
			shape.SampleLevel = uint8(ceilLog2(n) + maxSampleDepth)
		}
		for _, c := range []struct{ share, most float64 }{{0.01, 0.6}, {0.1, 0.6}, {0.5, 1}} {
			both := int(c.share * n)
			var ours, theta float64
			size := 0
			for trial := range trials {
				k1, k2 := pair(uint64(trial)+uint64(bytes), n, n, both)
				a, b := known(t, k1, shape, 1), known(t, k2, shape, 1)
				o := must(EstimateOverlap(a, b, 0.95))
				ours += math.Abs(o.Intersection.Value-float64(both)) / float64(both*trials)
				size = a.plan.EncodedBytes(1)
				theta += math.Abs(thetaIntersection(thetaSketch(k1, size/8), thetaSketch(k2, size/8))-float64(both)) / float64(both*trials)
			}
			t.Logf("%d bytes, overlap %v: error %.4f, theta sketch %.4f, ratio %.2f", size, c.share, ours, theta, ours/theta)
			if ours > c.most*theta {
				t.Errorf("%d bytes, overlap %v: error %.4f is more than %v of a theta sketch's %.4f", size, c.share, ours, c.most, theta)
			}
		}
	}
}
