package exchange

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// An announcement tells a mesh peer which epoch of an origin we hold, and how many parts. Each costs its line of a
// catalogue, so one is made only where it can change what the peer does:
//
//   - the first time for an epoch, unless the peer is known to hold as much;
//   - again when what we hold has doubled since (or is all there is, or has stopped growing), at most once
//     a second;
//   - to the origin itself, so that it knows that another peer serves its parts.
//
// Our own summary is announced to one link at a time (see announceOwn).
const (
	// noticeShare of a rate, and of a burst, may go to announcements on one link, or to the records in one hello: most is
	// for parts.
	noticeShare = bound.Little
	noticeBurst = noticeShare * leastBurst
	// noticeMost of our own line's rate may go to announcements, all links together, enough for a few links: a peer on a
	// slow line has many links, each perhaps faster than the line. As much of a link's inward rate may be announcements,
	// because the two ends of a link may reckon with different rates.
	noticeMost = bound.Handful * noticeShare
)

// announcements collects the announcements due on a link, within its budget. Every link goes through the directory from
// where it stopped, so that a peer hears of different origins from different neighbours.
func (x *Exchange) announcements(now time.Duration, l *link) []wire.Item {
	l.notices.refillAt(now, noticeShare*l.out.rate)
	x.notices.refillAt(now, noticeMost*x.up.rate)
	if (now - l.announced).Seconds() < rpcOverhead/(bound.Headers*max(1, l.out.rate)) {
		return nil
	}
	tokens := min(l.notices.tokens, x.notices.tokens, l.out.tokens-reserve-rpcOverhead, x.up.tokens-reserve-rpcOverhead)
	room := int(tokens) / itemBytes
	var items []wire.Item
	for i := range l.untold.after(int(l.cursor)) {
		if len(items) >= room {
			break
		}
		l.cursor = int32(i)
		e := x.origin(i)
		if e == nil || e.Newest() == nil || x.told(l, e, e.Newest()) || !l.reach().Contains(e.place) {
			l.untold[i] = false
			continue
		}
		if p := e.Newest(); x.ripe(now, l, e, p) {
			items = append(items, x.tell(now, l, e, p))
		}
	}
	if len(items) > 0 {
		l.notices.take(len(items) * itemBytes)
		x.notices.take(len(items) * itemBytes)
		l.announced = now
	}
	return items
}

func (x *Exchange) tell(now time.Duration, l *link, e *origin, p *summary.Prefix) wire.Item {
	l.traded(e.Index()).tells(p.Parts(), now)
	ep := p.Header().Epoch
	return wire.Item{Group: wire.NewGroup(e.Tag(), ep), Have: uint16(p.Parts())}
}

// told reports whether a link knows, or need not know, the number of parts that we hold of an origin.
func (x *Exchange) told(l *link, e *origin, p *summary.Prefix) bool {
	t, ep, have := l.trade(e.Index()), p.Header().Epoch, p.Parts()
	return have == 0 || int(t.toldHave) >= have ||
		e.Peer() != l.Peer && (t.theirs.After(ep) || t.theirs == ep && int(t.have) >= have)
}

// ripe reports whether to announce the number of parts of p now, to a link that does not know it.
func (x *Exchange) ripe(now time.Duration, l *link, e *origin, p *summary.Prefix) bool {
	t, have := l.trade(e.Index()), p.Parts()
	if t.toldHave == 0 {
		return true
	}
	plan := p.Plan()
	grown := p.EncodedBytes() >= 2*plan.EncodedBytes(int(t.toldHave)) || have == plan.Parts() ||
		now-e.Grown() >= agenda.Patience
	return grown && now-t.toldAt >= agenda.Beat
}

const (
	// ownTurnMost is the longest time between the announcements of our own epoch to one link and to the next.
	ownTurnMost = agenda.Soon
	// ownTurnFocused replaces ownTurnMost while we have a focus: few links take more than the first part then. With 1 s a
	// query takes 7.40 ± .35 messages in place of 6.96 ± .25, with 2 s 9.05 (mixed-lines, 256 kbit/s).
	ownTurnFocused = agenda.Brief
)

// announceOwn announces our own summary to one more link that holds no part of it, the fastest first, and to the next
// after the time in which the line sends the summary once. The mesh brings the summary to the others.
func (x *Exchange) announceOwn(now time.Duration) (to *link, items []wire.Item) {
	own := &x.origins[0]
	if own.Held() == nil || now < x.ownTurn {
		return nil, nil
	}
	turn := ownTurnMost
	if x.focus.places.Depth() > 0 {
		turn = ownTurnFocused
	}
	ep, _ := own.Epoch()
	for _, l := range x.links {
		if l.untoldOwn(ep) && (to == nil || l.Hello.Up > to.Hello.Up) {
			to = l
		}
	}
	if to == nil {
		return nil, nil
	}
	x.ownTurn = now + min(x.ownCopy(), turn)
	return to, []wire.Item{x.tell(now, to, own, own.Held())}
}

// ownTold reports whether our own summary has been announced to all links that need it.
func (x *Exchange) ownTold() bool {
	own := &x.origins[0]
	ep, _ := own.Epoch()
	return own.Held() == nil || !slices.ContainsFunc(x.links, func(l *link) bool { return l.untoldOwn(ep) })
}

// untoldOwn reports whether to announce our own summary to a link: to one that claims to hold no part of it.
func (l *link) untoldOwn(ep summary.Epoch) bool {
	t := l.trade(0)
	return l.Heard && t.toldHave == 0 && (t.theirs != ep || t.have == 0)
}

// ownCopy returns the time that the line takes to send our own summary once.
func (x *Exchange) ownCopy() time.Duration {
	return time.Duration(float64(x.origins[0].Held().EncodedBytes()) / x.up.rate * float64(time.Second))
}
