package coverage

import (
	"math"
	"math/bits"
	"slices"
)

// RangeLinks is the number of links to keep into the own range, where that is not the whole network.
const RangeLinks = 4

// Means says what a peer can spend on the origins of its range.
type Means struct {
	Memory float64 // bytes for what is known of origins
	Origin float64 // bytes of memory that an origin takes on average
	Most   float64 // origins at most, whatever the memory; 0: no bound

	Rate float64 // bytes a second that the line has for summaries
	Wire float64 // bytes that come with an origin: its summary, its record, what is said about it
	Fill float64 // seconds within which the range is to be filled, and all of it renewed
}

// Room is the number of origins that the means are enough for.
func (m Means) Room() float64 {
	room := math.Inf(1)
	if m.Origin > 0 {
		room = m.Memory / m.Origin
	}
	if m.Most > 0 {
		room = min(room, m.Most)
	}
	if m.Wire > 0 {
		room = min(room, m.Rate*m.Fill/m.Wire)
	}
	return room
}

const (
	// planned is the part of the room that a range is chosen to take. The rest is for ranges that happen to hold more
	// origins than others: with 80 planned they hold up to 100.
	planned = 0.7
	// widen is the part of the room that a range twice as wide must fit into before it is chosen instead. It is less
	// than planned, so that depths do not go to and fro in a network whose size is near a bound.
	widen = 0.55
	// whole is the part of the room that all origins must fit into before a peer that covers a part covers all again.
	whole = 0.8
)

// Depth returns the least depth at which the origins of a range fit into the room. origins is their number in the whole
// network. Depth 0 may use all of the room, since nothing is kept beside it. The present depth stays as long as its
// range neither overflows nor could be twice as wide with room to spare.
func Depth(now int, m Means, origins float64) int {
	room := m.Room()
	fits := func(depth int) bool {
		switch {
		case depth == 0 && now == 0:
			return origins <= room
		case depth == 0:
			return origins <= whole*room
		case depth < now:
			return math.Ldexp(origins, -depth) <= widen*room
		}
		return math.Ldexp(origins, -depth) <= planned*room
	}
	depth := 0
	for depth < MaxDepth && !fits(depth) {
		depth++
	}
	return depth
}

// countable is the number of origins that a range must hold to be counted. The relative standard error of the estimate
// is then a quarter.
const countable = 16

// Origins estimates the number of origins in the network, from the known places near the own one, each counted once.
// The nearer a range, the more of its origins are known. So it counts the narrowest range that holds at least 16. O(n).
func Origins(self Place, places []Place) float64 {
	if len(places) <= countable {
		return float64(len(distinct(slices.Clone(places))))
	}
	var sharing [MaxDepth + 1]int // number of places by the first bits that they share with the own place
	for _, p := range places {
		sharing[SharedBits(self, p)]++
	}
	n, depth := 0, MaxDepth
	for n += sharing[depth]; n < countable; n += sharing[depth] {
		depth--
	}
	var room [4 * countable]Place // on the stack
	for {
		near := room[:0]
		for _, p := range places {
			if SharedBits(self, p) >= depth {
				near = append(near, p)
			}
		}
		if near = distinct(near); len(near) >= countable || depth == 0 {
			return math.Ldexp(float64(len(near)), depth)
		}
		depth--
	}
}

// SharedBits returns the depth of the narrowest range that holds two places.
func SharedBits(p, q Place) int { return min(bits.LeadingZeros64(p.Distance(q)), MaxDepth) }

// distinct sorts places and drops repetitions.
func distinct(places []Place) []Place {
	slices.Sort(places)
	return slices.Compact(places)
}

// Median returns the middle of the estimates, so that a minority of liars cannot move it far. Of an even number it
// returns the two middle ones. It sorts the estimates. Of none it returns 0.
func Median(estimates []float64) (lower, upper float64) {
	n := len(estimates)
	if n == 0 {
		return 0, 0
	}
	slices.Sort(estimates)
	return estimates[(n-1)/2], estimates[n/2]
}

// boasters is the part of the linked peers, one in this many, that may overstate how many peers they know.
const boasters = 3

// MostSaid returns the highest number of known peers that a linked peer states, without the highest third of the
// statements; 0 without any. It sorts the words.
func MostSaid(words []int) int {
	if len(words) == 0 {
		return 0
	}
	slices.Sort(words)
	return words[len(words)-1-len(words)/boasters]
}
