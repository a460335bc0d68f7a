package exchange

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Round does one round with all links: asks, announcements, and the parts that they want. short is called for
// each new origin that links offer, and reports whether it must not be asked for now.
func (x *Exchange) Round(now time.Duration, short func() bool) {
	x.at(now)
	x.planAsks(now, short)
	ownTo, own := x.announceOwn(now)
	n := len(x.links)
	for k := range n {
		l := x.links[(x.turn+k)%n]
		if !l.Heard {
			continue
		}
		items := l.asks
		l.asks = nil
		if l == ownTo {
			items = append(items, own...)
		}
		if x.tells(l) {
			items = append(items, x.announcements(now, l)...)
		}
		x.sendCatalogue(l, items)
		x.serve(l, 0, 0)
	}
	for k := range n {
		if l := x.links[(x.turn+k)%n]; l.Heard {
			x.serve(l, 1, 2)
		}
	}
	x.answerRequests(now)
	x.turn++
}

func (x *Exchange) sendCatalogue(l *link, items []wire.Item) {
	for len(items) > 0 {
		batch := items[:min(len(items), wire.MaxItems)]
		items = items[len(batch):]
		x.out.Emit(event.SendCatalogue{To: l.Peer, Items: batch})
		x.charge(l, Cost(wire.Catalogue(batch)))
	}
}

// Came counts a catalogue against the line. It reports whether its sender is linked.
func (x *Exchange) Came(now time.Duration, from wire.PeerID, bytes int) bool {
	x.at(now)
	if !x.directory.IsLinked(from) {
		return false
	}
	x.receivedUnasked(bytes)
	x.came += uint64(bytes)
	x.news += uint64(bytes)
	return true
}

// Hears counts an announcement against its link, and reports whether to process it. Announcements beyond the link's
// share are dropped, so that they cost neither entries nor asks.
func (x *Exchange) Hears(from wire.PeerID) bool {
	l := x.link(from)
	l.theirs.refillAt(x.now, noticeMost*l.inRate)
	if l.theirs.tokens < itemBytes {
		return false
	}
	l.theirs.take(itemBytes)
	return true
}

// Line notes what an item of a linked peer's catalogue claims and wants of the entry with index i. It returns false if
// the rest of the catalogue is not to be believed.
func (x *Exchange) Line(from wire.PeerID, i int, it wire.Item) bool {
	l, e := x.link(from), &x.origins[i]
	if x.isOwn(e) && e.unpublished(it) {
		x.fault(l, event.FaultCatalogue)
		return false
	}
	x.noteClaim(l, e, it)
	if it.Want > it.Have {
		x.enqueue(l, e, it)
	}
	return true
}

// ServeAtOnce sends a link the parts that it wants, if the line has bytes to spare.
func (x *Exchange) ServeAtOnce(now time.Duration, p wire.PeerID) {
	l := x.link(p)
	x.up.refill(now)
	l.out.refill(now)
	if l.Heard && x.up.spare() {
		x.serve(l, 0, 2)
	}
}

// noteClaim notes what a peer claims to hold of an origin.
func (x *Exchange) noteClaim(l *link, e *origin, it wire.Item) {
	epoch := it.Group.Epoch()
	if e.ask.peer == l.Peer && e.ask.way == event.Pubsub && epoch.After(e.ask.epoch) && it.Have > 0 {
		x.endAsk(e) // the peer can't send parts of an epoch that it has replaced
		m := x.matter(l, e.Tag())
		if m.failures > 0 {
			x.failed(x.now, l, e) // the peer has failed before
		}
		m.failures = max(1, m.failures)
	}
	if ep, _ := e.Epoch(); epoch.After(ep) && !e.newerThan.After(ep) {
		e.newerThan = epoch
	}
	if l.traded(e.Index()).claims(epoch, it.Have) {
		x.wake(e)
	}
}

// unpublished reports whether an item names an epoch or parts of our own that we never published. It returns false
// before the first epoch of this run: the item may name an epoch of an earlier run.
func (e *origin) unpublished(it wire.Item) bool {
	if e.Held() == nil {
		return false
	}
	ep, parts := e.Epoch()
	at := it.Group.Epoch()
	return at.After(ep) || at == ep && int(max(it.Have, it.Want)) > parts
}

// enqueue notes a want. A want of an epoch that is no longer held is dropped: an announcement of the newer one follows.
func (x *Exchange) enqueue(l *link, e *origin, it wire.Item) {
	if e.At(it.Group.Epoch()) == nil {
		return
	}
	k := slices.IndexFunc(l.wants, func(w *want) bool { return w.index == e.Index() })
	if k < 0 {
		if k = len(l.wants); k >= maxWants {
			x.fault(l, event.FaultTooManyAsk)
			return
		}
		l.wants = append(l.wants, &want{})
	}
	*l.wants[k] = want{index: e.Index(), of: it.Group.Epoch(), from: it.Have, end: it.Want, given: it.Given, at: x.now}
}
