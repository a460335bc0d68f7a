package exchange

import (
	"slices"
	"time"

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
}

const (
	maxRequests = 64              // direct requests that wait at a time
	requestWait = 5 * time.Second // longest wait of a request for budget
)

// Request takes in a direct request about an entry; of is nil if there is none. It is answered at once, or as soon as
// the budgets allow.
func (x *Exchange) Request(now time.Duration, in event.Asked, q wire.PartsRequest, of *directory.Entry) {
	x.at(now)
	if of == nil || q.First < 0 || q.End <= q.First || !x.mayWait(in.From) {
		x.refuse(in)
		return
	}
	x.requests = append(x.requests, request{in, q, of, now + requestWait})
	x.answerRequests(now)
}

// mayWait makes room for one more request of a peer, or returns false. If all places are taken, the peer with the most
// of them gives its newest one to a peer with fewer. So peers that never say hello leave room for others.
func (x *Exchange) mayWait(p wire.PeerID) bool {
	if len(x.requests) < maxRequests {
		return true
	}
	places, greedy, newest := map[wire.PeerID]int{p: 1}, p, 0
	for _, r := range x.requests {
		if places[r.in.From]++; places[r.in.From] > places[greedy] {
			greedy = r.in.From
		}
	}
	if greedy == p {
		return false
	}
	for i, r := range x.requests {
		if r.in.From == greedy {
			newest = i
		}
	}
	x.refuse(x.requests[newest].in)
	x.requests = slices.Delete(x.requests, newest, newest+1)
	return true
}

func (x *Exchange) refuse(in event.Asked) {
	x.out.Emit(event.Answer{Request: in.Request, Answer: wire.Parts{Refused: true}})
}

// answerRequests answers the direct requests that the budgets allow, and refuses requests that have waited too long.
func (x *Exchange) answerRequests(now time.Duration) {
	kept := x.requests[:0]
	for _, r := range x.requests {
		switch done := x.answer(r, x.originOf(r.of)); {
		case done:
		case now >= r.until:
			x.refuse(r.in)
		default:
			kept = append(kept, r)
		}
	}
	x.requests = kept
}

// answer tries to answer one direct request about an origin; e is nil if it was forgotten meanwhile. It returns false
// if the request must wait for the peer's hello or for budget.
func (x *Exchange) answer(r request, e *origin) bool {
	if e == nil {
		x.refuse(r.in)
		return true
	}
	p := e.At(r.q.Group.Epoch())
	if p == nil || r.q.First >= p.Parts() || e.Index() == 0 && x.copying() && r.q.First < x.copies.end {
		x.refuse(r.in)
		return true
	}
	l, ok := x.links[r.in.From]
	if !ok || !l.heard {
		return false
	}
	if s := x.answerDelta(l, e, p, r); s != partsInstead {
		return s == deltaGoes
	}
	cut, ok := x.cut(l, e, p, r.q.First, min(r.q.End, p.Parts()))
	if !ok {
		return false
	}
	if e.Index() == 0 {
		x.copies.taken(x.now, cut.Run.First+len(cut.Run.Parts))
	}
	x.out.Emit(event.Answer{Request: r.in.Request, Answer: cut})
	x.charge(l, Cost(cut))
	return true
}
