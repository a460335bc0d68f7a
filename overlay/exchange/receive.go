package exchange

import (
	"cmp"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Arrived counts a run or a delta against the line and the link that it came on. of is its entry, nil if there is none.
func (x *Exchange) Arrived(now time.Duration, in event.PartsReceived, of *directory.Entry) {
	x.at(now)
	l := x.link(in.From)
	if l == nil {
		return
	}
	x.came += uint64(in.Bytes)
	if of != nil && x.origins[of.Index()].answers(in) {
		x.received(in.Bytes)
	} else {
		x.receivedUnasked(in.Bytes)
	}
	if in.Transport == event.Pubsub {
		l.inTrain.came(cmp.Or(in.Came, now), in.Bytes, in.More)
	}
}

// Arrival is a run or a delta that was admitted, until [Exchange.Took] notes its outcome.
type Arrival struct {
	in    event.PartsReceived
	of    *directory.Entry
	mine  bool // it answers the outstanding ask
	first bool // nothing was held of the origin before
}

// Entry returns the directory's entry of the run or delta.
func (a Arrival) Entry() *directory.Entry { return a.of }

// Admit reports whether to accept a run or a delta, and releases its reserved bytes. It returns false if the run was
// not asked for, which is the sender's fault, or if its entry, of, is nil or was removed since.
func (x *Exchange) Admit(in event.PartsReceived, of *directory.Entry) (a Arrival, ok bool) {
	a.in, a.of = in, of
	var e *origin
	if of != nil {
		e = x.originOf(of)
	}
	if fault := x.unasked(in); fault != "" {
		x.out.Emit(event.Report{Peer: in.From, Fault: fault})
		return a, false
	}
	if e == nil { // the entry was removed while its parts were fetched
		return a, false
	}
	if a.mine, a.first = e.answers(in), e.Held() == nil; a.mine {
		x.release(e) // the bytes that came are counted already
	}
	return a, true
}

// answers reports whether a run or a delta answers the outstanding ask.
func (e *origin) answers(in event.PartsReceived) bool {
	return e.ask.peer == in.From && e.ask.epoch == in.Group.Epoch()
}

// unasked returns the fault in sending a run or a delta; "" if it was asked for. What comes on a stream that this node
// opened was asked for, however late it is.
func (x *Exchange) unasked(in event.PartsReceived) event.Fault {
	if in.Transport == event.Direct {
		return ""
	}
	if l := x.link(in.From); l != nil {
		return l.pays(x.now, in)
	}
	return event.FaultUnasked
}

// Took notes the outcome of an admitted run or delta.
func (x *Exchange) Took(now time.Duration, a Arrival, r directory.Result) {
	l, e := x.link(a.in.From), x.originOf(a.of)
	if e == nil { // removed meanwhile: there is nothing left to note
		x.blameFor(a, r)
		return
	}
	if l != nil && r.Unapplied {
		x.matter(l, e.Tag()).noDelta = a.in.Group.Epoch()
	}
	x.judge(now, l, e, a, r)
	if r.Learned != nil && l != nil {
		l.traded(e.Index()).claims(a.in.Group.Epoch(), uint16(r.End))
		l.keeps(e.Tag())
		if a.first && e.Peer() != l.Peer {
			l.proven++
		}
	}
}

// judge reports the fault in a run or a delta, if there is one, and moves the outstanding ask forward or ends it.
func (x *Exchange) judge(now time.Duration, l *link, e *origin, a Arrival, r directory.Result) {
	useless := r.Unfit || a.in.Delta != nil && r.Learned == nil // parts are asked for instead
	x.blameFor(a, r)
	switch {
	case r.Fault == event.FaultTwin:
		return
	case r.Fault == "" && !useless && !r.Later:
		if a.mine {
			x.progress(now, l, e, r)
		}
		return
	}
	if a.mine {
		x.endAsk(e)
	}
	switch {
	case r.Later || r.Fault != "" && r.Fault != event.FaultDelta:
		x.shun(l, e, now+agenda.Seldom)
	case r.Unfit:
		x.failed(now, l, e)
	}
}

// blameFor reports the fault in a run or a delta, if there is one.
func (x *Exchange) blameFor(a Arrival, r directory.Result) {
	switch r.Fault {
	case "":
	case event.FaultTwin: // the origin's fault: the peer that passed it on could not know
		x.out.Emit(event.Report{Peer: a.of.Peer(), Fault: r.Fault})
	default:
		x.out.Emit(event.Report{Peer: a.in.From, Fault: r.Fault})
	}
}

// shun stops asks of a link about an origin until a time, and forgets the link's claim to hold parts of it.
func (x *Exchange) shun(l *link, e *origin, until time.Duration) {
	if l != nil {
		x.matter(l, e.Tag()).shunned = until
		l.traded(e.Index()).have = 0
		l.untold.add(e.Index())
	}
}

// progress moves the outstanding ask forward, or ends it. Only growth extends its deadline: parts already held do not.
func (x *Exchange) progress(now time.Duration, l *link, e *origin, r directory.Result) {
	p, end := e.Newest(), r.End
	if end >= e.ask.end || e.ask.way == event.Direct || l == nil || p == nil {
		e.refusals = 0
		x.endAsk(e)
		return
	}
	plan := p.Plan()
	e.ask.bytes = plan.EncodedBytes(e.ask.end) - plan.EncodedBytes(end)
	if r.Learned != nil {
		e.ask.deadline = now + askPatience(l, e.ask.bytes)
	}
	x.reserve(l, e, e.ask.bytes)
}

// FetchFailed notes that a direct fetch of an entry from a peer brought nothing. The origin is not fetched again for a
// while.
func (x *Exchange) FetchFailed(now time.Duration, from wire.PeerID, i int) {
	e := &x.origins[i]
	if e.ask.peer == from && e.ask.way == event.Direct { // the ask has not timed out: a timeout would have been counted
		if from != e.Peer() {
			e.refusals++
		}
		x.endAsk(e)
	}
	e.fetchAt = now + agenda.Attempt + time.Duration(x.cfg.Rand.Int64N(int64(agenda.Attempt)))
}
