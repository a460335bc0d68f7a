package exchange

import (
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A link hears only of origins in the range that its peer wants. Where our range is everybody, we announce to the links
// of the pubsub mesh. Where our range is a part, we also announce to all links whose ranges meet ours, because pubsub
// chooses its mesh without regard to ranges.

// RangeChanged notes that we want to hear of other places than before.
func (x *Exchange) RangeChanged() {
	x.due.By(duePlan, 0)
	for _, l := range x.links {
		l.untold.addAll(len(x.origins))
	}
}

// reach returns the range that a linked peer wants to hear of.
func (l *link) reach() space.Range { return space.Around(l.Place, l.Hello.Depth) }

// meets reports whether a linked peer's range and ours have places in common.
func (x *Exchange) meets(l *link) bool {
	own := x.directory.Range()
	return own.Covers(l.reach()) || l.reach().Covers(own)
}

// tells reports whether a link gets announcements of the parts that we hold.
func (x *Exchange) tells(l *link) bool {
	return l.Heard && (l.Meshed || x.directory.Range().Depth() > 0 && x.meets(l))
}

// maxRefusals is the number of failed fetches of an origin from links that should hold it, after which it is dialled
// itself.
const maxRefusals = bound.Signs

// holder returns the link to ask for parts of an origin outside our range: a link whose range contains the origin. Such
// a link does not announce the origin to us. Of several it returns the nearest to the origin, because ranges are filled
// from the inside out. It returns nil if the origin itself is to be asked.
func (x *Exchange) holder(e *origin) (best *link) {
	if x.directory.Range().Contains(e.place) || x.directory.IsLinked(e.Peer()) || e.refusals >= maxRefusals {
		return nil
	}
	for _, l := range x.links {
		if l.Heard && l.reach().Contains(e.place) && (best == nil || e.place.Distance(l.Place) < e.place.Distance(best.Place)) {
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
	for _, l := range x.links {
		if l.Heard && x.meets(l) {
			out = append(out, l.Peer)
		}
	}
	return out
}

// Spend counts bytes that go to a peer, linked or not.
func (x *Exchange) Spend(p wire.PeerID, n int) {
	if l := x.link(p); l != nil {
		x.charge(l, n)
		return
	}
	x.up.take(n)
	x.sent += uint64(n)
}

// Knows reports whether a linked peer has announced our own newest epoch.
func (x *Exchange) Knows(p wire.PeerID) bool {
	l := x.link(p)
	ep, _ := x.origins[0].Epoch()
	return l != nil && l.trade(0).theirs == ep
}
