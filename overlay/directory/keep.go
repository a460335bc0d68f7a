package directory

import (
	"cmp"
	"slices"

	"github.com/venn-p2p/venn/overlay/space"
)

// Each class of origins (see [Keep]) is sure of a share of the room, rounded down. Room that a class leaves goes to the
// range first, then to the similar, the useful, and the rest. The useful are sure of what the others leave. With half of
// that upkeep is 3.6 % more (scenario routing, 200 peers, origins=24).
const (
	RangeShare   = 0.72
	SimilarShare = 0.22
)

// Candidate is an origin that Keep chooses among.
type Candidate struct {
	Place   space.Place
	Linked  bool    // linked, or about to be: kept in any case, outside of the classes' shares
	Overlap float64 // share of our collection that it holds, by estimate; 0: none, or unknown
	Hits    int     // recent confirmations that it holds what was looked for
}

// Keep chooses the origins that are kept, room at most besides linked ones, by their classes:
//
//   - linked: all;
//   - the range: origins in it, nearest first;
//   - the similar: largest share of our collection first;
//   - the useful: most hits first;
//   - the rest: nearest first.
//
// Equal ranks go by place, nearest first. The order of the slice matters only for origins at one place. O(n log n).
func Keep(own space.Range, self space.Place, room int, all []Candidate) []bool {
	k := keeper{all: all, keep: make([]bool, len(all)), left: room, members: make([]member, 0, len(all))}
	inside := func(c Candidate) (float64, bool) { return 0, own.Contains(c.Place) }
	similar := func(c Candidate) (float64, bool) { return c.Overlap, c.Overlap > 0 }
	useful := func(c Candidate) (float64, bool) { return float64(c.Hits), c.Hits > 0 }
	rest := func(Candidate) (float64, bool) { return 0, true }
	for i, c := range all {
		k.keep[i] = c.Linked
	}
	classes := []struct {
		rank  func(Candidate) (float64, bool)
		share int // share of the room, in percent
	}{{inside, 100 * RangeShare}, {similar, 100 * SimilarShare}, {useful, 100 - 100*RangeShare - 100*SimilarShare}, {rest, 0}}
	orders := make([][]int, len(classes))
	for i, c := range classes {
		orders[i] = k.order(self, c.rank)
		k.take(orders[i], room*c.share/100)
	}
	for _, order := range orders {
		k.take(order, k.left)
	}
	return k.keep
}

// keeper is the state of one call of Keep.
type keeper struct {
	all  []Candidate
	keep []bool
	left int // origins that may still be kept

	members []member // members of one class at a time
}

// member is an origin in a class.
type member struct {
	index    int
	rank     float64
	distance uint64
}

// order lists the members of a class that are not kept yet: by falling rank, then nearest first.
func (k *keeper) order(self space.Place, rank func(Candidate) (float64, bool)) []int {
	members := k.members[:0]
	for i, c := range k.all {
		if r, in := rank(c); in && !k.keep[i] {
			members = append(members, member{i, r, self.Distance(c.Place)})
		}
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.distance, b.distance), cmp.Compare(a.index, b.index))
	})
	out := make([]int, len(members))
	for i, m := range members {
		out[i] = m.index
	}
	return out
}

// take keeps the first members of an order that are not kept yet, within a share of the room.
func (k *keeper) take(order []int, share int) {
	share = min(share, k.left)
	for _, i := range order {
		switch {
		case k.keep[i]:
			continue
		case share == 0:
			return
		}
		share--
		k.left--
		k.keep[i] = true
	}
}
