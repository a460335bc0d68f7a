package exchange

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// request is a direct request that waits for budget.
type request struct {
	in    event.Asked
	q     wire.PartsRequest
	of    *directory.Entry
	until time.Duration
	slot  *admission.Slot // place among the waiting requests; nil: the request is answered
}

// Request answers a direct request about an entry, at once or as soon as the budgets allow. It refuses the request if
// there is no entry (of is nil), or no place for the request to wait.
func (x *Exchange) Request(now time.Duration, in event.Asked, q wire.PartsRequest, of *directory.Entry) {
	x.at(now)
	r := &request{in: in, q: q, of: of, until: now + agenda.Patience}
	if of != nil && q.First >= 0 && q.End > q.First {
		r.slot = x.served.Take(x.who(in), func() { x.refuse(r) })
	}
	if r.slot == nil {
		x.refuse(r)
		return
	}
	x.requests = append(x.requests, r)
	x.answerRequests(now)
}

func (x *Exchange) refuse(r *request) { x.reply(r, wire.Parts{Refused: true}) }

// reply answers a request, which waits no longer.
func (x *Exchange) reply(r *request, parts wire.Parts) {
	x.out.Emit(event.Answer{Request: r.in.Request, Answer: parts})
	if r.slot != nil {
		r.slot.Release()
		r.slot = nil
	}
}

// answerRequests answers the direct requests that the budgets allow, and refuses requests that have waited too long.
func (x *Exchange) answerRequests(now time.Duration) {
	x.requests = slices.DeleteFunc(x.requests, func(r *request) bool {
		switch done := r.slot == nil || x.answer(r, x.originOf(r.of)); {
		case done:
			return true
		case now >= r.until:
			x.refuse(r)
			return true
		}
		return false
	})
}

// answer tries to answer one direct request about an origin; e is nil if it was forgotten meanwhile. It returns false
// if the request must wait for the peer's hello or for budget.
func (x *Exchange) answer(r *request, e *origin) bool {
	if e == nil {
		x.refuse(r)
		return true
	}
	p := e.At(r.q.Group.Epoch())
	if p == nil || r.q.First >= p.Parts() {
		x.refuse(r)
		return true
	}
	l := x.link(r.in.From)
	if l == nil || !l.Heard {
		return false
	}
	if s := x.answerDelta(l, e, p, r); s != partsInstead {
		return s == deltaGoes
	}
	cut, ok := x.cut(l, e, p, r.q.First, min(r.q.End, p.Parts()))
	if !ok {
		return false
	}
	x.reply(r, cut)
	x.charge(l, Cost(cut))
	return true
}
