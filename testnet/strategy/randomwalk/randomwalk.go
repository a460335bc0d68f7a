// Package randomwalk has a strategy that sends out walkers, each of which visits one peer after the other.
package randomwalk

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy sends walkers out. Each goes from peer to peer at random until enough is found.
//
// A walker visits one peer a step. If h of n peers hold the key, s steps find a holder with a probability of about
// 1-(1-h/n)^s. So the cost is proportional to n/h, not to n.
var Strategy = strategy.Strategy{
	Name:   "random-walk",
	Source: "Lv, Cao, Cohen, Li, Shenker, Search and Replication in Unstructured Peer-to-Peer Networks (ICS 2002)",
	Model: "32 walkers. At every fourth step each checks with the asker whether to go on. A peer passes no walker of a query to a " +
		"neighbour twice while there is another. At most 1024 steps a walker, 128 when all holders are wanted, or what the budget " +
		"allows. A holder tells the asker directly. No upkeep but the links themselves.",
	Parameters: []strategy.Parameter{strategy.Budget.By("32 walkers of 1,024 steps, of 128 for all holders")},
	Open: func(w strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer { return &peer{host: h, budget: int(w.Params.Of(strategy.Budget))} }, nil
	},
}

const (
	walkers     = 32
	steps       = 1024 // most steps of a walker
	stepsAll    = 128  // most steps of a walker that looks for all holders: it makes no checks
	check       = 4    // steps between two checks with the asker
	walkerBytes = strategy.Overhead + strategy.KeyBytes + 16 + 38
	hitBytes    = strategy.Overhead + 16 + 8
	talkBytes   = strategy.Overhead + 16 + 4 // bytes of a check, and also of its answer
)

type peer struct {
	host   strategy.Host
	budget int
	seen   strategy.Visits[*passed]
}

// passed has what a peer remembers of a query whose walkers came by.
type passed struct {
	last   *[walkers]int32 // each walker's latest step and action, see again; nil: no walker came
	looked bool
	sent   []strategy.ID // neighbours to which this peer has sent a walker
	enough bool          // the query is this peer's own and has found enough
}

// What a walker does at each step, in this order. doings is the number of these actions.
const (
	arrives = iota
	checks
	goesOn
	doings
)

// again reports whether a message about a walker is a copy of an earlier one. Each new message is of a later step,
// or a later action in the same step, than all before it.
func (p *passed) again(doing int, w *walker) bool {
	if p.last == nil {
		p.last = &[walkers]int32{}
	}
	at := int32(doings*w.hops + doing)
	if at <= p.last[w.number] {
		return true
	}
	p.last[w.number] = at
	return false
}

// walker is a walker on its way. While it checks with the asker, it waits at the peer that sent the check.
type walker struct {
	query  strategy.Query
	asker  strategy.ID
	number int // number among the query's walkers
	hops   int // hops until now
	left   int // steps that are left
}

type (
	ask struct{ walker walker } // asks the asker whether the walker may go on
	on  struct{ walker walker } // tells that the walker may go on
	hit struct{ hops int }
)

func (r *peer) Step(now time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Started:
		r.start(now, in.Query)
	case strategy.Received:
		r.receive(now, in.From, in.Message)
	case strategy.Failed:
		if w, ok := in.Message.Body.(walker); ok {
			w.hops--
			w.left++
			r.pass(now, w, in.To)
		}
	}
}

func (r *peer) start(now time.Duration, q strategy.Query) {
	w := walker{query: q, asker: r.host.Self(), left: steps}
	if q.All {
		w.left = stepsAll
	}
	n := walkers
	if steps := r.budget; steps > 0 {
		if !q.All { // every fourth step costs a check and its answer more
			steps = steps * check / (check + 2)
		}
		n = max(1, min(n, steps/check))
		w.left = max(1, steps/n)
	}
	for w.number = range n {
		r.pass(now, w, w.asker)
	}
}

// visit returns what this peer remembers of a query. For a new query it begins a record, and known is false.
func (r *peer) visit(now time.Duration, q strategy.QueryID) (v *passed, known bool) {
	if v, known = r.seen.Get(q); !known {
		v = &passed{}
		r.seen.Put(now, q, v)
	}
	return v, known
}

// pass sends a walker to a random neighbour. It prefers neighbours to which this peer has sent no walker of the
// query, and from which the walker did not come.
func (r *peer) pass(now time.Duration, w walker, from strategy.ID) {
	if w.left == 0 || now >= w.query.Deadline {
		return
	}
	v, _ := r.visit(now, w.query.ID)
	links := r.host.Links()
	fresh := slices.DeleteFunc(slices.Clone(links), func(p strategy.ID) bool { return p == from || slices.Contains(v.sent, p) })
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
	r.host.Send(to, strategy.Message{Body: w, Bytes: walkerBytes, Query: w.query.ID})
}

func (r *peer) receive(now time.Duration, from strategy.ID, m strategy.Message) {
	switch b := m.Body.(type) {
	case walker:
		r.arrive(now, b, from)
	case ask:
		if v, known := r.visit(now, m.Query); known && !v.enough && !v.again(checks, &b.walker) {
			r.host.Send(from, strategy.Message{Body: on(b), Bytes: talkBytes, Query: m.Query})
		}
	case on:
		if v, _ := r.visit(now, m.Query); !v.again(goesOn, &b.walker) {
			r.pass(now, b.walker, r.host.Self())
		}
	case hit:
		r.host.Found(m.Query, from, b.hops)
		v, _ := r.visit(now, m.Query)
		v.enough = true
	}
}

// arrive handles a walker that has come. It looks for the key, then checks with the asker or goes on.
func (r *peer) arrive(now time.Duration, w walker, from strategy.ID) {
	v, _ := r.visit(now, w.query.ID)
	if v.again(arrives, &w) {
		return
	}
	if !v.looked && w.asker != r.host.Self() {
		v.looked = true
		if r.host.Look(w.query.ID, w.query.Key) {
			r.host.Send(w.asker, strategy.Message{Body: hit{w.hops}, Bytes: hitBytes, Query: w.query.ID})
			if !w.query.All {
				return
			}
		}
	}
	if w.hops%check == 0 && !w.query.All {
		r.host.Send(w.asker, strategy.Message{Body: ask{w}, Bytes: talkBytes, Query: w.query.ID})
		return
	}
	r.pass(now, w, from)
}
