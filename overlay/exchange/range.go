package exchange

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A link hears of the origins in the range that its peer wants to hear of, and of no others. Where the range is
// everybody, the pubsub mesh says which links announce to each other. Where it is a part, all links do whose ranges
// meet: pubsub chooses its mesh without regard to ranges.

// PlaceOf returns where a peer stands.
func PlaceOf(p wire.PeerID) space.Place { return space.Place(group.OriginTag(string(p))) }

// SetRange says which places we want to hear of. At first all are.
func (x *Exchange) SetRange(r space.Range) {
	x.within = r
	x.due.By(duePlan, 0)
	for _, l := range x.order {
		l.untold.addAll(len(x.origins))
	}
}

// reach is what a linked peer wants to hear of.
func (l *link) reach() space.Range { return space.Around(l.place, l.hello.Depth) }

// meets says whether a linked peer's range and ours have places in common.
func (x *Exchange) meets(l *link) bool {
	return x.within.Covers(l.reach()) || l.reach().Covers(x.within)
}

// tells reports whether a link gets announcements of what is held here.
func (x *Exchange) tells(l *link) bool {
	return l.heard && (l.mesh || x.within.Depth() > 0 && x.meets(l))
}

// fewDepths is how many links must say which range they want to hear of before that counts.
const fewDepths = 3

// maxRefusals is how many fetches from links that should hold an origin may fail before it is dialled itself.
const maxRefusals = 2

// holder returns the link to fetch an origin outside our range from. It is one that wants to hear of the origin,
// because links into other ranges announce nothing to us of their own accord. Of several it is the one nearest to the
// origin, for ranges are filled from the inside out. It returns nil where the origin itself is to be asked.
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

// tellAgain announces again to a link what its peer wants. That is what was outside of its range and, with all, also
// what it had no room for before.
func (x *Exchange) tellAgain(l *link, all bool) {
	l.untold.addAll(len(x.origins))
	for i := x.owns; all && i < len(x.origins); i++ {
		l.trades.renewed(i)
	}
}

// Meeting returns the linked peers of our range, and those whose range ours is a part of.
func (x *Exchange) Meeting() (out []wire.PeerID) {
	for _, l := range x.order {
		if l.heard && x.meets(l) {
			out = append(out, l.peer)
		}
	}
	return out
}

// UsualDepth returns the depth of the ranges that linked peers want to hear of: half of them say at least as much. It is 0
// while few say anything.
func (x *Exchange) UsualDepth() int {
	var depths []int
	for _, l := range x.order {
		if l.heard {
			depths = append(depths, l.hello.Depth)
		}
	}
	if len(depths) < fewDepths {
		return 0
	}
	slices.Sort(depths)
	return depths[(len(depths)-1)/2]
}

// Networks returns how many origins linked peers say there are in all.
func (x *Exchange) Networks() []float64 {
	var out []float64
	for _, l := range x.order {
		if l.heard && l.hello.Network > 0 {
			out = append(out, float64(l.hello.Network))
		}
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

// Spare says whether the own line can send more now.
func (x *Exchange) Spare() bool { return x.up.allows(0) }

// Knows says whether a linked peer has our own newest epoch, as far as we know.
func (x *Exchange) Knows(p wire.PeerID) bool {
	l, ok := x.links[p]
	ep, _ := x.origins[0].Epoch()
	return ok && l.known(0).theirs == ep
}
