package space

import (
	"fmt"
	"math"
)

// Place is the position of an origin in hash space: the first 64 bits of the hash of its peer id. It is the same under
// every seed of a network.
type Place uint64

// Distance returns the XOR of two places. The more first bits they share, the smaller it is. It is 0 only for equal
// places.
func (p Place) Distance(q Place) uint64 { return uint64(p ^ q) }

// MaxDepth is the greatest depth of a range. Deeper ranges would need a network of 10^11 peers.
const MaxDepth = 32

// Range is the set of all places that share their first depth bits. Ranges compare equal with == if they hold the
// same places. The zero Range holds all places.
type Range struct {
	first Place // the least place in the range
	depth uint8
}

// Around returns the range of a depth that holds a place. The depth is limited to [0, MaxDepth].
func Around(p Place, depth int) Range {
	depth = min(max(depth, 0), MaxDepth)
	return Range{p &^ (math.MaxUint64 >> depth), uint8(depth)}
}

// Depth returns the number of first bits that the places of the range share.
func (r Range) Depth() int { return int(r.depth) }

// First returns the least place in the range.
func (r Range) First() Place { return r.first }

// Contains reports whether a place is in the range.
func (r Range) Contains(p Place) bool { return Around(p, r.Depth()) == r }

// Covers reports whether all of another range is in this one.
func (r Range) Covers(s Range) bool { return s.depth >= r.depth && r.Contains(s.first) }

// Share returns the fraction of all places that lie in the range: 2^-depth.
func (r Range) Share() float64 { return math.Ldexp(1, -r.Depth()) }

// Parent returns the range that is one bit shallower. The range of all places is its own parent.
func (r Range) Parent() Range { return Around(r.first, r.Depth()-1) }

// sibling returns the other half of the parent. The range of all places is its own sibling.
func (r Range) sibling() Range {
	if r.depth == 0 {
		return r
	}
	return Range{r.first ^ 1<<(64-r.depth), r.depth}
}

// String returns the shared bits, such as "0110"; "all" for the range of all places.
func (r Range) String() string {
	if r.depth == 0 {
		return "all"
	}
	return fmt.Sprintf("%0*b", r.Depth(), uint64(r.first)>>(64-r.depth))
}
