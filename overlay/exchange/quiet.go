package exchange

import (
	"container/heap"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
)

// lookout is which origins the planner looks at: those that are awake, and those that have been quiet for long enough.
// A plan costs what there is to look at, not what is known.
type lookout struct {
	awake marks // directory indexes to look at in the next plan
	asked marks // those that something is asked about
	quiet rests // the others, by when they are looked at again; some are of origins that woke meanwhile
}

// rest is until when an origin is passed over.
type rest struct {
	until time.Duration
	index int
}

// rests is a heap, the soonest first.
type rests []rest

func (r rests) Len() int           { return len(r) }
func (r rests) Less(i, j int) bool { return r[i].until < r[j].until }
func (r rests) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

// Push and Pop are what package heap asks for. They would allocate for each rest: see add and drop.
func (r *rests) Push(any) {}
func (r *rests) Pop() any { return nil }

func (r *rests) add(v rest) {
	*r = append(*r, v)
	heap.Fix(r, len(*r)-1)
}

// drop removes the first.
func (r *rests) drop() {
	last := len(*r) - 1
	r.Swap(0, last)
	if *r = (*r)[:last]; last > 0 {
		heap.Fix(r, 0)
	}
}

// wake has an origin looked at in the next plan.
func (x *Exchange) wake(e *origin) {
	e.quiet = 0
	x.lookout.awake.add(e.Index())
	x.due.By(duePlan, 0)
}

// hush has an origin passed over until a time.
func (x *Exchange) hush(e *origin, until time.Duration) {
	e.quiet = until
	x.lookout.awake.remove(e.Index())
	q := &x.lookout.quiet
	if len(*q) == cap(*q) { // before it grows
		*q = slices.DeleteFunc(*q, func(r rest) bool { return !x.counts(r) })
		heap.Init(q)
	}
	q.add(rest{until, e.Index()})
}

// counts says whether a rest is still what its origin waits for.
func (x *Exchange) counts(r rest) bool {
	e := x.origins[r.index]
	return e != nil && e.quiet == r.until && mayAsk(e)
}

// rouse wakes the origins that have been quiet for long enough, and drops the rests that count no longer.
func (x *Exchange) rouse(now time.Duration) {
	q := &x.lookout.quiet
	for len(*q) > 0 {
		r := (*q)[0]
		counts := x.counts(r)
		if counts && now < r.until {
			return
		}
		q.drop()
		if counts {
			x.lookout.awake.add(r.index)
		}
	}
}

// nextRouse is when the first quiet origin is looked at again.
func (x *Exchange) nextRouse() time.Duration {
	if len(x.lookout.quiet) == 0 {
		return agenda.Never
	}
	return x.lookout.quiet[0].until
}

// has says whether an origin is looked at now or after its rest.
func (l *lookout) has(e *origin) bool {
	return l.awake.has(e.Index()) || slices.Contains(l.quiet, rest{e.quiet, e.Index()})
}
