package space

import (
	"math"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/overlay/bound"
)

// Countable is the least number of origins in a range from which the size of the network is estimated. A peer that looks
// for its nearest peers lists the same number.
const Countable = bound.Enough

// Origins estimates the number of origins in the network, from the known places near our own. Repeated places count
// once. The nearer a range, the more of its origins are known. So Origins counts the narrowest range around our own
// place that holds at least Countable places. O(n).
func Origins(self Place, places []Place) float64 {
	if len(places) <= Countable {
		return float64(len(distinct(slices.Clone(places))))
	}
	var sharing [MaxDepth + 1]int // number of places by the number of first bits shared with self
	for _, p := range places {
		sharing[SharedBits(self, p)]++
	}
	n, depth := 0, MaxDepth
	for n += sharing[depth]; n < Countable; n += sharing[depth] {
		depth--
	}
	var room [4 * Countable]Place // on the stack
	for {
		near := room[:0]
		for _, p := range places {
			if SharedBits(self, p) >= depth {
				near = append(near, p)
			}
		}
		if near = distinct(near); len(near) >= Countable || depth == 0 {
			return math.Ldexp(float64(len(near)), depth)
		}
		depth--
	}
}

// SharedBits returns the depth of the narrowest range that holds both places, at most MaxDepth.
func SharedBits(p, q Place) int { return min(bits.LeadingZeros64(p.Distance(q)), MaxDepth) }

// distinct sorts places in place and drops repetitions.
func distinct(places []Place) []Place {
	slices.Sort(places)
	return slices.Compact(places)
}

// Voices is the number of peers of which one may lie: of fewer, one liar could decide what counts as their word.
const Voices = 3

// Median returns the lower and the upper middle of the estimates of other peers; they are equal if the number of
// estimates is odd. A minority of liars cannot move it far. It sorts the estimates. It returns 0 for fewer than Voices.
func Median(estimates []float64) (lower, upper float64) {
	n := len(estimates)
	if n < Voices {
		return 0, 0
	}
	slices.Sort(estimates)
	return estimates[(n-1)/2], estimates[n/2]
}

// MostSaid returns the largest of words, the numbers of known peers that linked peers state, without the highest
// len(words)/voices. It returns 0 if words is empty. It sorts words.
func MostSaid(words []int, voices int) int {
	if len(words) == 0 {
		return 0
	}
	slices.Sort(words)
	return words[len(words)-1-len(words)/voices]
}
