package summary

import (
	"math"
	"testing"
)

// TestSampleLevel compares the level of the default sample with others of one size. None predicts a much smaller error,
// on average over overlaps and sizes.
func TestSampleLevel(t *testing.T) {
	sum := make([]float64, maxSampleDepth+1)
	for depth := 2; depth <= maxSampleDepth; depth++ {
		for _, n := range []int{70_000, 100_000, 131_072} {
			for _, share := range []float64{0.01, 0.1, 0.3, 0.5} {
				s := DefaultShape(n)
				s.SampleLevel = uint8(ceilLog2(n) + depth)
				p := must(NewPlan(n, s))
				l := p.blocks[0]
				c := area{level: int(s.SampleLevel), bits: uint64(l.sample) << (s.SampleLevel - l.start)}
				sum[depth] += math.Log(c.deviation(float64(n), float64(n), share*float64(n))) / 12
			}
		}
	}
	for depth := 2; depth <= maxSampleDepth; depth++ {
		ratio := math.Exp(sum[depth] - sum[defaultSampleDepth])
		t.Logf("%d levels below log2 n: %.3f of the default's error", depth, ratio)
		if ratio < 0.98 {
			t.Errorf("%d levels below log2 n would have %.3f of the default's error", depth, ratio)
		}
	}
}
