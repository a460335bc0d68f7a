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
	// ownTakes is the time after the last part sent for which the first copy counts as being taken.
	ownTakes = agenda.Patience
)

// announceOwn announces our own summary to one more link, the fastest first, and to the next after the time in which
// the line sends the summary once. Of equally fast links it prefers one whose place is in our focus, then one that
// holds more parts. The mesh brings the summary to the others.
//
// A slow line goes on to the next link while nobody takes the first copy. Once all of the copy is out, it goes on to
// links that hold no part. For ten seconds a slow line tells only faster peers, unless Exchange.equals is set. Where
// lines have a focus, it also goes on while the line has bytes to spare: peers take small summaries before the first
// copy of a large one.
func (x *Exchange) announceOwn(now time.Duration) (to *link, items []wire.Item) {
	own := &x.origins[0]
	if own.Held() == nil || now < x.ownTurn {
		return nil, nil
	}
	ep, all := own.Epoch()
	slow, copying, turn := x.slowLine(), x.copying(), ownTurnMost
	idle := false
	if x.focus.places.Depth() > 0 {
		turn, idle = ownTurnFocused, x.up.spare()
	}
	if copying && !idle && x.copies.last > 0 && now-x.copies.last < ownTakes {
		return nil, nil
	}
	var best [3]uint64 // of the link to: rate of its line, 1 if its place is in our focus, parts that it has
	for _, l := range x.links {
		has := l.hasOwn(ep)
		if !l.untoldOwn(has, all, slow && !copying) {
			continue
		}
		if slow && !x.equals && l.Hello.Up <= x.cfg.Up && now-own.Since() < agenda.Attempt {
			continue // the peer passes parts on no faster than we do
		}
		worth := [3]uint64{l.Hello.Up, 1, uint64(has)}
		if x.focus.beside(l.Place) {
			worth[1] = 0
		}
		if to == nil || slices.Compare(worth[:], best[:]) > 0 {
			to, best = l, worth
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
	if own.Held() == nil {
		return true
	}
	ep, all := own.Epoch()
	relayed := x.slowLine() && !x.copying()
	return !slices.ContainsFunc(x.links, func(l *link) bool { return l.untoldOwn(l.hasOwn(ep), all, relayed) })
}

// hasOwn returns the number of parts that a link claims to hold of an epoch of our own summary.
func (l *link) hasOwn(ep summary.Epoch) int {
	if t := l.trade(0); t.theirs == ep {
		return int(t.have)
	}
	return 0
}

// untoldOwn reports whether to announce our own summary to a link. all is its number of parts, has the number that the
// link holds. If relayed is set, other peers bring the rest to a link that holds any part.
func (l *link) untoldOwn(has, all int, relayed bool) bool {
	return l.Heard && l.trade(0).toldHave == 0 && has < all && (has == 0 || !relayed)
}

// ownCopy returns the time that the line takes to send our own summary once.
func (x *Exchange) ownCopy() time.Duration {
	return time.Duration(float64(x.origins[0].Held().EncodedBytes()) / x.up.rate * float64(time.Second))
}

// slowLine reports whether the line is too slow to send our own summary to every neighbour.
func (x *Exchange) slowLine() bool { return x.ownCopy() >= ownTurnMost/2 }

// copying reports whether a slow line is still sending the first copy of our own summary. Nobody else can send this
// copy, so parts that other peers can relay wait, for a minute at most.
func (x *Exchange) copying() bool {
	own := &x.origins[0]
	return own.Held() != nil && x.now-own.Since() < agenda.Seldom && x.slowLine() && x.copies.end < own.Held().Parts()
}

// copies is the progress of the first copy of our own summary. A line too slow to send many copies sends one, part by
// part, to the peers that take parts first. The mesh brings the parts to the others.
type copies struct {
	end  int           // parts that have left us
	last time.Duration // when a part beyond the sample last left us
}

// taken notes that the parts before part end were sent.
func (c *copies) taken(now time.Duration, end int) {
	c.end = max(c.end, end)
	if end > 1 {
		c.last = now
	}
}
