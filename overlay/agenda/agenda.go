// Package agenda remembers the time before which a task has nothing to do. A round then costs what there is to do, not
// what is known. It is a table of times, one for each task; looking is O(1).
//
// A task is done when it is due; of all times named for it the earliest counts. Do not use it for a pause, which must last
// even if something names an earlier time ([Pause] does), nor for a job that stays due until it succeeds.
package agenda

import (
	"math"
	"time"
)

// Never is later than any time.
const Never = time.Duration(math.MaxInt64)

// Agenda holds the times at which tasks are due. Tasks are small numbers, named by constants of the owner's.
type Agenda []time.Duration

// New returns an agenda on which every one of n tasks is due at once.
func New(n int) Agenda { return make(Agenda, n) }

// By makes a task due at a time at the latest. A time that has passed makes it due at once.
func (a Agenda) By(task int, at time.Duration) { a[task] = min(a[task], at) }

// Take reports whether a task is due. If it is, the caller must do it now; it is due again only after [Agenda.By].
func (a Agenda) Take(task int, now time.Duration) bool {
	if now < a[task] {
		return false
	}
	a[task] = Never
	return true
}

// At returns when a task is due.
func (a Agenda) At(task int) time.Duration { return a[task] }
