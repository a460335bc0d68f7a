package compare

import (
	"math"
	"slices"
	"testing"
)

// TestFew holds the estimated share within four standard deviations of the true one, whatever the sizes and depths, and
// says nothing about a collection that is not known where the few keys are.
func TestFew(t *testing.T) {
	for _, c := range []struct{ n, other, shared int }{
		{3000, 3000, 0}, {3000, 3000, 1500}, {3000, 3000, 3000}, {40_000, 3000, 3000}, {3000, 40_000, 2000}, {300, 300, 100}, {60, 300_000, 0},
	} {
		common := someKeys(1, c.shared)
		p := build(append(slices.Clone(common), someKeys(2, c.n-c.shared)...), 1)
		other := build(append(slices.Clone(common), someKeys(3, c.other-c.shared)...), 1)
		for _, number := range []int{64, 256} {
			few := FewOf(p.Truncate(1), number)
			share, ok := few.In(other)
			want := float64(c.shared) / float64(c.n)
			if !ok || math.Abs(share-want) > 4*0.5/math.Sqrt(float64(min(number, c.n/8))) {
				t.Errorf("%+v, %d keys: %.3f, want %.3f", c, number, share, want)
			}
			if _, ok := few.In(other.Truncate(0)); ok {
				t.Errorf("%+v: a share of what is not known", c)
			}
		}
	}
}
