package exchange

import (
	"container/heap"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
)

// lookout holds the origins that the planner looks at: awake ones, and quiet ones whose time is over. A plan costs what
// there is to look at, not what is known.
type lookout struct {
	awake marks   // directory indexes to look at in the next plan
	asked marks   // directory indexes with an outstanding ask
	quiet []int32 // directory indexes that rest: a heap, the first to be looked at again first
}

// rests gives package heap access to the resting origins. Each origin knows its place in the heap.
type rests Exchange

func (x *rests) Len() int { return len(x.lookout.quiet) }

func (x *rests) Less(i, j int) bool {
	q := x.lookout.quiet
	return x.origins[q[i]].quiet < x.origins[q[j]].quiet
}

func (x *rests) Swap(i, j int) {
	q := x.lookout.quiet
	q[i], q[j] = q[j], q[i]
	x.origins[q[i]].rest, x.origins[q[j]].rest = int32(i+1), int32(j+1)
}

// Push and Pop are required by package heap. They would allocate for each rest: see hush and unrest.
func (*rests) Push(any) {}
func (*rests) Pop() any { return nil }

// wake has the next plan look at an origin.
func (x *Exchange) wake(e *origin) {
	x.unrest(e)
	e.quiet = 0
	x.lookout.awake.add(e.Index())
	x.due.By(duePlan, 0)
}

// hush has the planner pass over an origin until a time.
func (x *Exchange) hush(e *origin, until time.Duration) {
	e.quiet = until
	x.lookout.awake.remove(e.Index())
	if q := &x.lookout.quiet; e.rest == 0 {
		*q = append(*q, int32(e.Index()))
		e.rest = int32(len(*q))
	}
	heap.Fix((*rests)(x), int(e.rest-1))
}

// unrest takes an origin out of the heap.
func (x *Exchange) unrest(e *origin) {
	if e.rest == 0 {
		return
	}
	h, q := (*rests)(x), &x.lookout.quiet
	at, last := int(e.rest-1), len(*q)-1
	h.Swap(at, last)
	*q, e.rest = (*q)[:last], 0
	if at < last {
		heap.Fix(h, at)
	}
}

// rouse wakes the origins whose rest is over, and takes origins that cannot be asked for any more out of the heap.
func (x *Exchange) rouse(now time.Duration) {
	for len(x.lookout.quiet) > 0 {
		e := &x.origins[x.lookout.quiet[0]]
		wanted := mayAsk(e)
		if wanted && now < e.quiet {
			return
		}
		x.unrest(e)
		if wanted {
			x.lookout.awake.add(e.Index())
		}
	}
}

// nextRouse returns the time at which the first quiet origin is looked at again.
func (x *Exchange) nextRouse() time.Duration {
	if len(x.lookout.quiet) == 0 {
		return agenda.Never
	}
	return x.origins[x.lookout.quiet[0]].quiet
}

// has reports whether an origin is looked at now or after its rest.
func (l *lookout) has(e *origin) bool { return l.awake.has(e.Index()) || e.rest > 0 }
