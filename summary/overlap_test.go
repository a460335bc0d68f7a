package summary

import (
	"math"
	"testing"
)

func TestOverlapSample(t *testing.T) {
	const n, trials = 100_000, 3
	for _, share := range []float64{0.01, 0.1, 0.5} {
		for _, parts := range []int{1, 10, 20} {
			var sum, own float64
			var method, methodOwn string
			cover, coverOwn := 0, 0
			want := share * n
			for trial := range trials {
				keys := someKeys(uint64(trial)+uint64(1000*share), 2*n)
				a := mustBuild(t, keys[:n], Shape{}).Prefix().Truncate(parts)
				b := mustBuild(t, keys[n-int(want):2*n-int(want)], Shape{}).Prefix().Truncate(parts)
				o, err := EstimateOverlap(a, b, 0.95)
				if err != nil {
					t.Fatal(err)
				}
				sum += math.Abs(o.Intersection.Value-want) / want
				if o.Intersection.Low <= want && want <= o.Intersection.High {
					cover++
				}
				method = o.Method
				o, _ = EstimateOwnOverlap(keys[:n], b, 0.95)
				own += math.Abs(o.Intersection.Value-want) / want
				if o.Intersection.Low <= want && want <= o.Intersection.High {
					coverOwn++
				}
				methodOwn = o.Method
			}
			t.Logf("overlap %v parts %d: %.4f (%d) %s; own %.4f (%d) %s", share, parts, sum/trials, cover, method, own/trials, coverOwn, methodOwn)
		}
	}
}
