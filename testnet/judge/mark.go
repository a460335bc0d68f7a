package judge

import (
	"cmp"
	"math"
	"slices"
)

// Mark is what an answer is worth, of what it could be worth.
type Mark struct {
	Found, Findable int // holders; of a query that wants one holder, one is findable
	Wrong           int // peers named as holders that hold nothing of the kind
}

// verdict is what naming a peer is worth.
type verdict uint8

const (
	wrong    verdict = iota // it does not hold the key
	right                   // it does
	changing                // it began or ceased to of late
)

// MarkOf marks an answer that names some of the holders that were findable. Of a query that wants one holder, one is
// findable. This is the one place where recall begins, of the simulator's queries and of those on real hosts.
func MarkOf(found, findable int, all bool) Mark {
	if !all {
		findable = min(1, findable)
	}
	return Mark{Found: min(found, findable), Findable: findable}
}

// Mark marks an answer: a holder named twice counts once, the asker itself and peers that do not hold the key never.
func (t *Truth) Mark(asker int, key uint32, all bool, named []int) Mark {
	return mark(asker, all, named, t.Findable(asker, key), func(p int) verdict {
		if p < 0 || p >= t.Peers() || !t.Has(p, key) {
			return wrong
		}
		return right
	})
}

// mark marks an answer where findable holders can be found. Who wanted one holder is content with one that is changing.
func mark(asker int, all bool, named []int, findable int, judge func(peer int) verdict) Mark {
	var count [changing + 1]int
	for _, p := range slices.Compact(slices.Sorted(slices.Values(named))) {
		if p != asker {
			count[judge(p)]++
		}
	}
	found := count[right]
	if !all {
		found += count[changing]
	}
	m := MarkOf(found, findable, all)
	m.Wrong = count[wrong]
	return m
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
