package judge

import (
	"cmp"
	"math"
	"slices"
)

// Mark is the score of an answer, beside the best possible one.
type Mark struct {
	Found, Findable int // holders; of a query that wants one holder, one is findable
	Wrong           int // peers named as holders that hold nothing of the kind
}

// MarkOf marks an answer that names some of the findable holders. If a query wants one holder, one is findable. All
// recall figures come from here, for the simulator's queries and for queries on real hosts.
func MarkOf(found, findable int, all bool) Mark {
	if !all {
		findable = min(1, findable)
	}
	return Mark{Found: min(found, findable), Findable: findable}
}

// Quantile returns the smallest value that at least a share of all do not exceed, the zero value of none. O(n log n)
// time.
func Quantile[T cmp.Ordered](values []T, share float64) (q T) {
	if len(values) == 0 {
		return q
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}
