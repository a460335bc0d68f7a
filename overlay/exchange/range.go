package exchange

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A link hears only of origins in the range that its peer wants. Where our range is everybody, we announce to the links
// of the pubsub mesh. Where our range is a part, we also announce to all links whose ranges meet ours, because pubsub
// chooses its mesh without regard to ranges.

// PlaceOf returns the place of a peer.
func PlaceOf(p wire.PeerID) space.Place { return space.Place(group.OriginTag(string(p))) }

// SetRange sets the places that we want to hear of. At first these are all.
func (x *Exchange) SetRange(r space.Range) {
	x.within = r
	x.due.By(duePlan, 0)
	for _, l := range x.order {
		l.untold.addAll(len(x.origins))
	}
}

// reach returns the range that a linked peer wants to hear of.
func (l *link) reach() space.Range { return space.Around(l.place, l.hello.Depth) }

// meets reports whether a linked peer's range and ours have places in common.
func (x *Exchange) meets(l *link) bool {
	return x.within.Covers(l.reach()) || l.reach().Covers(x.within)
}

// tells reports whether a link gets announcements of the parts that we hold.
func (x *Exchange) tells(l *link) bool {
	return l.heard && (x.meshed[l.peer] || x.within.Depth() > 0 && x.meets(l))
}

// maxRefusals is the number of failed fetches of an origin from links that should hold it, after which it is dialled
// itself.
const maxRefusals = 2

// holder returns the link to ask for parts of an origin outside our range: a link whose range contains the origin. Such
// a link does not announce the origin to us. Of several it returns the nearest to the origin, because ranges are filled
// from the inside out. It returns nil if the origin itself is to be asked.
func (x *Exchange) holder(e *origin) (best *link) {
	if x.within.Contains(e.place) || x.IsLinked(e.Peer()) || e.refusals >= maxRefusals {
		return nil
	}
	for _, l := range x.order {
		if l.heard && l.reach().Contains(e.place) && (best == nil || e.place.Distance(l.place) < e.place.Distance(best.place)) {
			best = l
		}
	}
	return best
}

// tellAgain announces to a link again what its peer wants: origins that were outside of its range and, if all is set,
// also those for which it had no room before.
func (x *Exchange) tellAgain(l *link, all bool) {
	l.untold.addAll(len(x.origins))
	for i := x.owns; all && i < len(x.origins); i++ {
		l.tellsNone(i)
	}
}

// Meeting returns the linked peers whose ranges have places in common with ours.
func (x *Exchange) Meeting() (out []wire.PeerID) {
	for _, l := range x.order {
		if l.heard && x.meets(l) {
			out = append(out, l.peer)
		}
	}
	return out
}

// UsualDepth returns the median depth of the ranges that linked peers want to hear of. It is 0 while fewer than
// space.Boasters have said hello: a boaster could decide it.
func (x *Exchange) UsualDepth() int {
	var depths []int
	for _, l := range x.order {
		if l.heard {
			depths = append(depths, l.hello.Depth)
		}
	}
	if len(depths) < space.Boasters {
		return 0
	}
	slices.Sort(depths)
	return depths[(len(depths)-1)/2]
}

// Networks returns the numbers of origins in the whole network that linked peers estimate; none from fewer
// than space.Boasters.
func (x *Exchange) Networks() []float64 {
	var out []float64
	for _, l := range x.order {
		if l.heard && l.hello.Network > 0 {
			out = append(out, float64(l.hello.Network))
		}
	}
	if len(out) < space.Boasters {
		return nil
	}
	return out
}

// Spend counts bytes that go to a peer, linked or not.
func (x *Exchange) Spend(p wire.PeerID, n int) {
	if l, ok := x.links[p]; ok {
		x.charge(l, n)
		return
	}
	x.up.take(n)
	x.sent += uint64(n)
}

// Knows reports whether a linked peer has announced our own newest epoch.
func (x *Exchange) Knows(p wire.PeerID) bool {
	l, ok := x.links[p]
	ep, _ := x.origins[0].Epoch()
	return ok && l.trade(0).theirs == ep
}
