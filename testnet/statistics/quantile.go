package statistics

import (
	"cmp"
	"math"
	"slices"
)

// Quantile returns the smallest of the values for which at least the given share of them is not greater. Without
// values it returns the zero value. O(n log n) time.
func Quantile[T cmp.Ordered](values []T, share float64) (q T) {
	if len(values) == 0 {
		return q
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}
