// Package agenda remembers for each task the time at which it is next due. Then a round costs in proportion to the
// tasks that are due, not to all that is known. It is a table of times, one for each task; a look-up is O(1).
//
// A task is done when it is due. If several times are named for it, the earliest counts. Do not use an agenda for a
// pause, which must last even if something names an earlier time ([Pause] does). Do not use it for a job that stays
// due until it succeeds.
package agenda

import (
	"math"
	"time"
)

// Never is later than any time.
const Never = time.Duration(math.MaxInt64)

// Agenda holds the times at which tasks are due. The owner numbers its tasks with constants from 0 on.
type Agenda []time.Duration

// New returns an agenda on which every one of n tasks is due at once.
func New(n int) Agenda { return make(Agenda, n) }

// By makes a task due at the given time at the latest. A time that has passed makes it due at once.
func (a Agenda) By(task int, at time.Duration) { a[task] = min(a[task], at) }

// Take reports whether a task is due. If it is, the caller must do it now: it is not due again before the next
// [Agenda.By].
func (a Agenda) Take(task int, now time.Duration) bool {
	if now < a[task] {
		return false
	}
	a[task] = Never
	return true
}

// At returns the time at which a task is due.
func (a Agenda) At(task int) time.Duration { return a[task] }
