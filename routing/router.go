package routing

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/match"
	"github.com/venn-p2p/venn/summary/bloom"
)

// Router is the query machine of one node. The package comment lists the duties of its driver. Not safe for concurrent
// use.
type Router struct {
	cfg   Config
	view  View
	prior match.Prior

	now      time.Duration
	returned time.Duration       // when a peer that was gone was last heard of again
	open     map[QueryID]*search // own queries and those that serve a request
	timers   timers
	woken    time.Duration       // time of the Wake in force; negative: none
	own      int                 // own queries among open
	load     map[wire.PeerID]int // confirmations that queries wait for, by peer
	requests QueryID             // number of IDs given to searches of others
	seen     sightings
	gate     *admission.Gate // admits the requests of other peers
	conducts *simplelru.LRU[wire.PeerID, conduct]
	words    *simplelru.LRU[wire.PeerID, time.Duration] // when links last said that they could not reach a peer
	salt     uint64                                     // decides the order in which linked peers are asked and forwarded to
	out      []event.Effect
}

// New makes a Router that reads view. Its errors match [ErrConfig] and name every fault.
func New(cfg Config, view View) (*Router, error) {
	cfg.defaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	key := bloom.Hasher{K0: cfg.Rand.Uint64(), K1: cfg.Rand.Uint64()}
	_ = cfg.Rand.Uint64() // keeps the traces of a seed
	return &Router{
		cfg: cfg, view: view, prior: match.NewPrior(cfg.Prior), woken: -1,
		open: map[QueryID]*search{}, load: map[wire.PeerID]int{},
		seen: sightings{key: key}, gate: newGate(cfg.Limits.Work), salt: cfg.Rand.Uint64(),
		conducts: ofPeers[conduct](), words: ofPeers[time.Duration](),
	}, nil
}

// Step takes an input at an instant of the core's clock and returns the effects to carry out, in order. The slice is
// valid until the next Step. Step panics when time goes back and on an unknown Input.
func (r *Router) Step(now time.Duration, in event.Input) []event.Effect {
	if now < r.now {
		panic(fmt.Sprintf("routing: time goes back from %v to %v", r.now, now))
	}
	r.now, r.out = now, r.out[:0]
	switch in := in.(type) {
	case Start:
		r.start(in.Query)
	case Cancel:
		r.cancel(in)
	case event.Asked:
		r.asked(in)
	case event.Answered:
		r.answered(in)
	case event.Unreachable:
		if _, linked := slices.BinarySearch(r.view.Linked(), in.Peer); !linked {
			r.unresponsive(in.Peer, true)
		}
	case event.Doubted:
		if in.Back {
			r.takenBack(in.Peer)
		} else {
			r.hear(in.Peer)
		}
	case event.HelloReceived:
		r.lives(in.Peer)
	case Alive:
		r.lives(in.Peer)
	case Unresponsive:
		r.unresponsive(in.Peer, false)
	case event.ContactsNamed:
		r.contactsNamed(in)
	case event.Tick:
	default:
		panic(fmt.Sprintf("routing: unknown input %T", in))
	}
	r.runTimers()
	return r.out
}

func (r *Router) emit(e event.Effect) { r.out = append(r.out, e) }

// ask puts a question of a query to a peer.
func (r *Router) ask(q *search, to wire.Record, question wire.Message) {
	r.emit(event.Ask{To: to, Question: question, Search: uint64(q.ID), Owner: q.owner()})
}

// answered handles the answer to a question, or its failure, by the kind of question.
func (r *Router) answered(in event.Answered) {
	id, from := QueryID(in.Search), in.To.Peer
	switch q := in.Question.(type) {
	case wire.HaveRequest:
		if has, ok := in.Answer.(wire.HaveAnswer); ok && len(has) == 1 {
			r.confirmed(id, from, has[0], in.Bytes)
		} else {
			r.confirmFailed(id, from, in.Here)
		}
	case wire.Query:
		switch a, ok := in.Answer.(wire.Answer); {
		case !ok:
			r.askFailed(id, from, in.Here)
		case q.Kind == wire.Candidates:
			r.candidatesReceived(id, from, a, in.Bytes)
		default:
			r.forwardReturned(id, from, a, in.Bytes)
		}
	}
}

// runTimers advances the queries whose time has come and asks to be woken for the next.
func (r *Router) runTimers() {
	for len(r.timers) > 0 && r.timers[0].wake <= r.now {
		r.advance(r.timers[0])
	}
	if r.woken <= r.now {
		r.woken = -1
	}
	if len(r.timers) > 0 && r.timers[0].wake != r.woken {
		r.woken = r.timers[0].wake
		r.emit(event.Wake{At: r.woken})
	}
}

// start opens a caller's query, or refuses it.
func (r *Router) start(q Query) {
	switch {
	case q.ID >= MaxQueryID:
		r.refuse(q.ID, "query ID out of range")
	case r.open[q.ID] != nil:
		r.refuse(q.ID, "query ID in use")
	case len(q.Key) == 0 || len(q.Key) > MaxKey:
		r.refuse(q.ID, fmt.Sprintf("key of %d bytes, want 1 to %d", len(q.Key), MaxKey))
	case q.Mode > wire.All:
		r.refuse(q.ID, fmt.Sprintf("unknown mode %d", q.Mode))
	case r.own >= r.cfg.MaxQueries:
		r.refuse(q.ID, fmt.Sprintf("%d queries open already", r.own))
	default:
		r.own++
		extra := 0
		if q.Budget <= 0 {
			extra = r.cfg.BudgetContacts
		}
		r.launch(&search{
			Query: r.filled(q), forContacts: extra, origin: r.cfg.Self, nonce: r.cfg.Rand.Uint64(), hops: r.cfg.Hops, stats: Stats{Self: r.cfg.Has(q.Key)},
		})
	}
}

func (r *Router) refuse(id QueryID, why string) {
	r.emit(Done{ID: id, Stats: Stats{End: Refused}, Err: "routing: " + why})
}

// filled returns a query with the defaults of its unset fields.
func (r *Router) filled(q Query) Query {
	q.Want = max(q.Want, 1)
	if q.Budget <= 0 {
		q.Budget = map[wire.Mode]int{wire.Any: r.cfg.BudgetAny, wire.All: r.cfg.BudgetAll}[q.Mode]
	}
	if q.Deadline == 0 {
		q.Deadline = r.now + r.cfg.Timeout
	}
	return q
}

// launch opens a query and does all that can be done at once.
func (r *Router) launch(q *search) {
	q.started, q.fingerprint = r.now, r.cfg.Fingerprint(q.Key)
	q.index = map[wire.PeerID]int{}
	r.open[q.ID] = q
	r.timers.add(q)
	r.matched(q)
	if r.poor(q.Mode) {
		r.seekPrecise(q)
	}
	if !q.cover.poor {
		q.cover.begin(setOf(r.view.Covers()))
	}
	if q.Mode == wire.All || q.cover.poor {
		r.cover(q)
	}
	r.advance(q)
}

// poor reports whether the directory is too poor for queries of a mode to rely on it alone.
func (r *Router) poor(m wire.Mode) bool {
	f := r.view.FalseMatches()
	return f > r.cfg.Poor || m == wire.All && (f > r.cfg.PoorAll || r.cfg.Incomplete())
}

// Open reports whether a query is open: an answer to one of its questions may still count.
func (r *Router) Open(id QueryID) bool { return r.open[id] != nil }

func (r *Router) cancel(in Cancel) {
	if q := r.open[in.ID]; q != nil && q.serves == nil {
		r.end(q, Cancelled)
	}
}

// end closes a query and reports its outcome to the caller, or to the peer that asked.
func (r *Router) end(q *search, why End) {
	delete(r.open, q.ID)
	r.timers.remove(q)
	r.judgeReferrers(q)
	for i := range q.candidates {
		c := &q.candidates[i]
		if c.state != asking {
			continue
		}
		r.waitFor(q, c, -1)
		if again := c.standing >= suspect; again || r.now >= c.since+r.cfg.HedgeAfter {
			r.noteFailure(c.record.Peer, c.since, again, false)
		}
	}
	if q.serves != nil {
		if why == OutOfBudget {
			r.nameUnasked(q)
		}
		r.finishServing(q)
		return
	}
	r.own--
	q.cover.once.Add(r.view.Covers())
	if q.spent > 0 || r.view.Origins() > 0 || len(r.view.Linked()) > 0 { // else this node knows of no network
		q.stats.Covered = q.cover.once.Share()
	}
	q.stats.End, q.stats.Messages, q.stats.Elapsed, q.stats.AsOf = why, q.spent, r.now-q.started, q.age(r.now)
	r.emit(Done{ID: q.ID, Stats: q.stats})
}
