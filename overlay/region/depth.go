package region

import (
	"math"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/space"
)

// RangeLinks is the number of links to keep with peers of our range, unless our range is the whole network.
const RangeLinks = bound.Handful

// Means are the resources that a peer can spend on the origins of its range.
type Means struct {
	Memory float64 // bytes for what is known of origins
	Origin float64 // bytes of memory that an origin takes on average
	Most   float64 // most origins, whatever the memory; 0: no bound

	Rate float64 // bytes a second that the line has for summaries
	Wire float64 // bytes that come with an origin: its summary, its record, announcements of it
	Fill float64 // seconds in which the line must be able to bring the whole range
}

// Room returns the number of origins that the means are enough for.
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
	// planned is the part of the room that a range is chosen to fill. The rest is for ranges that happen to hold more
	// origins than others: some ranges planned for 80 origins hold 100. With half of it p99 is 1.39 s in place of .88 s,
	// and upkeep 3 % less; with .9 upkeep is 4 % more (scenario routing, 200 peers, origins=24).
	planned = 0.7
	// wider is the factor by which there must be more room than a wider range fills before it is chosen, so that depths do
	// not go to and fro in a network whose size is near a bound.
	wider = bound.Clearly
)

// Depth returns the least depth at which the origins of a range fit into the room. The number origins counts the whole
// network; now is the present depth. Depth 0 may use all of the room, because nothing is kept beside its range. The
// present depth stays while its range neither overflows nor could be twice as wide with room to spare.
func Depth(now int, m Means, origins float64) int {
	room := m.Room()
	fits := func(depth int) bool {
		switch {
		case depth == 0 && now == 0:
			return origins <= room
		case depth == 0:
			return float64(wider*origins) <= room
		case depth < now:
			return float64(wider*math.Ldexp(origins, -depth)) <= planned*room
		}
		return math.Ldexp(origins, -depth) <= planned*room
	}
	depth := 0
	for depth < space.MaxDepth && !fits(depth) {
		depth++
	}
	return depth
}
