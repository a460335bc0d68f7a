package judge

import (
	"cmp"
	"math"
	"slices"
)

// Mark is the score of an answer: holders found, out of those findable.
type Mark struct {
	Found, Findable int // holders; Findable is at most 1 for a query that wants one holder
	Wrong           int // peers named that do not hold the key
}

// MarkOf returns the mark of an answer that names found of the findable holders. If the query wants one holder, at
// most one counts. All recall figures come from here, for the simulator's queries and for queries on real hosts.
func MarkOf(found, findable int, all bool) Mark {
	if !all {
		findable = min(1, findable)
	}
	return Mark{Found: min(found, findable), Findable: findable}
}

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
