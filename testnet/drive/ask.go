package drive

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Answer is the result of a query.
type Answer struct {
	// holders in the order in which they were found; a query that wants one holder may find more
	Holders []strategy.ID
	First   time.Duration // time until the first holder was known
	Found   time.Duration // time until the last holder was known; until the first, for a query that wants one
	Over    time.Duration // time until the strategy declared the query over; 0: it did not
	Hops    int           // hops to the first holder, as the strategy reports; 0: none was found
	Probes  int           // number of looks into collections for the query, as the simulator counts them
	Wasted  int           // number of the probes that found nothing
}

// ask is a query under way.
type ask struct {
	asker strategy.ID
	all   bool
	began time.Duration

	mu     sync.Mutex
	open   int // inputs and messages of the query that were not handled yet
	since  time.Duration
	answer Answer
	done   bool
}

// asks has the queries under way.
type asks struct {
	mu   sync.RWMutex
	last strategy.QueryID
	open map[strategy.QueryID]*ask
}

// patience bounds the time of a query when none of its messages is under way, but a peer still waits to be woken. It
// matters for queries that their strategy does not declare over.
const patience = 3 * time.Second

// Find has a peer look for a key, for one holder or all, and returns when nothing of the query is under way. If one
// holder is wanted, Answer.Found is the time until the asker knew the first. For a strategy that never declares a query
// over, Find waits while messages are under way, and 3 s more while any peer waits to be woken. When ctx ends, Find
// returns the answer so far without an error. An error is the one that ended the run.
func (n *Network) Find(ctx context.Context, asker strategy.ID, key strategy.Key, all bool) (Answer, error) {
	a := &ask{asker: asker, all: all, began: n.now()}
	id := n.asks.add(a)
	defer n.asks.remove(id)
	q := strategy.Query{ID: id, Key: key, All: all, Deadline: a.began + time.Hour}
	if end, ok := ctx.Deadline(); ok {
		q.Deadline = a.began + time.Until(end)
	}
	n.peers[asker].post(event{kind: started, query: q, message: strategy.Message{Query: id}})
	err := n.wait(ctx, func() bool { return a.over(n.now(), n.armed.Load() > 0) })
	if ctx.Err() != nil {
		err = nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer.Holders = slices.Clone(a.answer.Holders)
	return a.answer, err
}

// over reports whether no more answers are expected. waking tells whether a peer waits to be woken.
func (a *ask) over(now time.Duration, waking bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	enough := a.done || !a.all && len(a.answer.Holders) > 0
	return a.open == 0 && (enough || !waking || now-a.since >= patience)
}

func (a *asks) add(q *ask) strategy.QueryID {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[strategy.QueryID]*ask{}
	}
	a.last++
	a.open[a.last] = q
	return a.last
}

func (a *asks) remove(id strategy.QueryID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, id)
}

// with calls do with a query, if it is under way.
func (a *asks) with(id strategy.QueryID, do func(*ask)) {
	if id == 0 {
		return
	}
	a.mu.RLock()
	q := a.open[id]
	a.mu.RUnlock()
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	do(q)
}

func (a *asks) enter(id strategy.QueryID) {
	a.with(id, func(q *ask) { q.open++ })
}

func (a *asks) leave(id strategy.QueryID, now time.Duration) {
	a.with(id, func(q *ask) { q.open, q.since = q.open-1, now })
}

// looked counts a look of a peer into its collection.
func (a *asks) looked(id strategy.QueryID, held bool) {
	a.with(id, func(q *ask) {
		q.answer.Probes++
		if !held {
			q.answer.Wasted++
		}
	})
}

// found notes a holder that the asker has found. It ignores a holder named before, and answers after the end.
func (a *asks) found(id strategy.QueryID, asker, holder strategy.ID, hops int, now time.Duration) {
	a.with(id, func(q *ask) {
		r := &q.answer
		if q.asker != asker || q.done || slices.Contains(r.Holders, holder) {
			return
		}
		r.Holders = append(r.Holders, holder)
		if len(r.Holders) == 1 {
			r.First, r.Hops = now-q.began, hops
		}
		if q.all || len(r.Holders) == 1 {
			r.Found = now - q.began
		}
	})
}

func (a *asks) done(id strategy.QueryID, asker strategy.ID, now time.Duration) {
	a.with(id, func(q *ask) {
		if q.asker == asker && !q.done {
			q.done, q.answer.Over = true, now-q.began
		}
	})
}
