package strategy

import (
	"slices"
	"time"
)

// RandomWalk sends walkers out, each of which goes from peer to peer by chance until enough is found.
//
// A walker looks at one peer a step, so in a network of n peers of which h hold the key, s steps find one with a probability
// of about 1 - (1-h/n)^s: cost goes with n/h, not with n.
var RandomWalk = Strategy{
	Name:   "random-walk",
	Source: "Lv, Cao, Cohen, Li, Shenker, Search and Replication in Unstructured Peer-to-Peer Networks (ICS 2002)",
	Model: "32 walkers; at every fourth step each checks with the asker whether to go on; a peer passes no walker of a query to a " +
		"neighbour twice while there is another. At most 1024 steps a walker, 128 when all holders are wanted, or what the budget " +
		"allows. A holder tells the asker directly. No upkeep but the links themselves.",
	Open: func(w World) (Factory, error) {
		return func(h Host) Peer { return &randomWalk{host: h, budget: w.Params.Budget} }, nil
	},
}

const (
	walkers       = 32
	walkSteps     = 1024 // of a walker
	walkStepsAll  = 128  // of one that nothing stops before
	walkCheck     = 4    // steps between two checks
	walkerBytes   = Overhead + KeyBytes + 16 + 38
	walkHitBytes  = Overhead + 16 + 8
	walkTalkBytes = Overhead + 16 + 4 // a check, and its answer
)

type randomWalk struct {
	host   Host
	budget int
	seen   visits[walkVisit]
}

// walkVisit is what a peer remembers of a query whose walkers came by.
type walkVisit struct {
	looked bool
	sent   []ID // neighbours that got one
	enough bool // an own query has found what it wants
}

// walker is on its way. One that checks is at the peer that sent the check.
type walker struct {
	query Query
	asker ID
	hops  int // so far
	left  int // further steps
}

type (
	walkAsk struct{ walker walker } // may the walker go on?
	walkOn  struct{ walker walker } // it may
	walkHit struct{ hops int }
)

func (r *randomWalk) Step(now time.Duration, in Input) {
	switch in := in.(type) {
	case Started:
		r.start(now, in.Query)
	case Received:
		r.receive(now, in.From, in.Message)
	case Failed:
		if w, ok := in.Message.Body.(walker); ok {
			w.hops--
			w.left++
			r.pass(now, w, in.To)
		}
	}
}

func (r *randomWalk) start(now time.Duration, q Query) {
	w := walker{query: q, asker: r.host.Self(), left: walkSteps}
	if q.All {
		w.left = walkStepsAll
	}
	n := walkers
	if steps := r.budget; steps > 0 {
		if !q.All { // a check and its answer at every fourth step
			steps = steps * walkCheck / (walkCheck + 2)
		}
		n = max(1, min(n, steps/walkCheck))
		w.left = max(1, steps/n)
	}
	for range n {
		r.pass(now, w, w.asker)
	}
}

// pass sends a walker on: to a neighbour that has got none of this query yet, if there is one, and rather not back.
func (r *randomWalk) pass(now time.Duration, w walker, from ID) {
	if w.left == 0 || now >= w.query.Deadline {
		return
	}
	v, _ := r.seen.at(now, w.query.ID)
	links := r.host.Links()
	fresh := slices.DeleteFunc(slices.Clone(links), func(p ID) bool { return p == from || slices.Contains(v.sent, p) })
	if len(fresh) == 0 {
		fresh = links
	}
	if len(fresh) == 0 {
		return
	}
	to := fresh[r.host.Rand().IntN(len(fresh))]
	v.sent = append(v.sent, to)
	w.hops++
	w.left--
	r.host.Send(to, Message{Body: w, Bytes: walkerBytes, Query: w.query.ID})
}

func (r *randomWalk) receive(now time.Duration, from ID, m Message) {
	switch b := m.Body.(type) {
	case walker:
		r.arrive(now, b, from)
	case walkAsk:
		if v, known := r.seen.at(now, m.Query); known && !v.enough {
			r.host.Send(from, Message{Body: walkOn(b), Bytes: walkTalkBytes, Query: m.Query})
		}
	case walkOn:
		r.pass(now, b.walker, r.host.Self())
	case walkHit:
		r.host.Found(m.Query, from, b.hops)
		v, _ := r.seen.at(now, m.Query)
		v.enough = true
	}
}

// arrive takes in a walker: it looks, and goes on.
func (r *randomWalk) arrive(now time.Duration, w walker, from ID) {
	v, _ := r.seen.at(now, w.query.ID)
	if !v.looked && w.asker != r.host.Self() {
		v.looked = true
		if r.host.Look(w.query.ID, w.query.Key) {
			r.host.Send(w.asker, Message{Body: walkHit{w.hops}, Bytes: walkHitBytes, Query: w.query.ID})
			if !w.query.All {
				return
			}
		}
	}
	if w.hops%walkCheck == 0 && !w.query.All {
		r.host.Send(w.asker, Message{Body: walkAsk{w}, Bytes: walkTalkBytes, Query: w.query.ID})
		return
	}
	r.pass(now, w, from)
}
