package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// ask is an outstanding request for parts from..end-1 of one epoch.
type ask struct {
	peer     wire.PeerID
	way      event.Transport
	epoch    summary.Epoch
	from     int
	end      int
	bytes    int // predicted, and reserved
	deadline time.Duration
}

// open reports whether there is an ask.
func (a *ask) open() bool { return a.peer != "" }

// fetch asks a link that should hold parts, or the origin itself, to send them on a stream of their own.
func (x *Exchange) fetch(now time.Duration, of offer) {
	if x.direct >= x.maxDirect() {
		return
	}
	e := of.e
	from := e.Record()
	if l := x.holder(e); l != nil {
		from = wire.Record{Peer: l.Peer}
	}
	e.ask = ask{peer: from.Peer, way: event.Direct, epoch: of.epoch, from: of.from, end: of.end, deadline: now + agenda.Attempt}
	x.direct++
	x.reserve(nil, e, of.bytes)
	p := e.Newest()
	if of.given == (wire.Given{}) {
		var holder []*link
		if l := x.link(from.Peer); l != nil {
			holder = []*link{l}
		}
		of.given = x.baseFor(holder, e, p, of.end).given()
	}
	x.out.Emit(event.Ask{To: from, Question: wire.PartsRequest{
		Group: wire.GroupOf(p.Header()), First: of.from, End: of.end, Given: of.given,
	}})
}

// reserve sets aside the predicted bytes of an entry's ask.
func (x *Exchange) reserve(l *link, e *origin, n int) {
	e.ask.bytes = n
	x.down.take(n)
	x.due.By(dueAsks, e.ask.deadline)
	if l != nil {
		l.inFlight += n
	}
}

// release gives back the bytes set aside for an entry's ask.
func (x *Exchange) release(e *origin) {
	if !e.ask.open() {
		return
	}
	x.down.take(-e.ask.bytes)
	if l := x.link(e.ask.peer); l != nil && e.ask.way == event.Pubsub {
		l.inFlight -= e.ask.bytes
	}
	e.ask.bytes = 0
}

// endAsk forgets an entry's ask.
func (x *Exchange) endAsk(e *origin) {
	if e.ask.peer == "" {
		return
	}
	x.release(e)
	if e.ask.way == event.Direct {
		x.direct--
	}
	e.ask = ask{}
	x.wake(e)
}

// timeOut ends the asks past their deadline. The peer is not asked about that origin again for a while.
func (x *Exchange) timeOut(now time.Duration) {
	if !x.due.Take(dueAsks, now) {
		return
	}
	for i := range x.origins {
		e := &x.origins[i]
		if !e.ask.open() {
			continue
		}
		if now < e.ask.deadline {
			x.due.By(dueAsks, e.ask.deadline)
			continue
		}
		l := x.link(e.ask.peer)
		if e.ask.way == event.Direct {
			e.fetchAt = now + agenda.Attempt
			if e.ask.peer != e.Peer() { // the holder announced nothing, so it broke no claim
				e.refusals, l = e.refusals+1, nil
			}
		}
		x.endAsk(e)
		x.failed(now, l, e)
	}
}

// claimsUnkept is the number of unkept asks in a row that is a fault of a link that never brought anything. A useful
// link that is busy with its own summary brings nothing of others for a while.
const claimsUnkept = bound.Few

// failed notes that a link has not brought the parts of an origin that it was asked for. It is not asked about the
// origin for a while, from the third failure in a row on twice as long each time, up to 30 s. Otherwise a liar would
// keep honest links from being asked.
func (x *Exchange) failed(now time.Duration, l *link, e *origin) {
	if l == nil {
		return
	}
	l.breaks(now, x.cfg.Limits.Credit)
	if e.Held() == nil {
		l.proven--
	}
	m := x.matter(l, e.Tag())
	x.shun(l, e, now+agenda.Doubled(agenda.Patience, m.failures-1, agenda.Lately))
	m.failures++
	if !l.useful && l.unkept%claimsUnkept == 0 {
		x.fault(l, event.FaultClaim)
	}
}
