// Package schedule says when a node makes a new summary of its keys.
package schedule

import "time"

// Lifetime is that of a summary, from its first receipt.
const Lifetime = time.Hour

// RestAfter is how many times what making it took, a summary for which all keys were read is not made again.
const RestAfter = 50

// When a node makes a new summary of its keys.
const (
	settle  = 500 * time.Millisecond // from the first change after a quiet time to a new epoch
	spacing = 20 * time.Second       // between epochs at least, unless Spacing says otherwise; a time without changes is quiet when it was as long
	moving  = 3 * time.Second        // between epochs at least when addresses change
	enough  = 1000                   // one key in this number changed: enough for a new epoch when there was no quiet time
	overdue = 2 * time.Minute        // that fewer changes wait for others at most

	renewal = Lifetime / 2 // between epochs at most, once there is one
)

// Schedule decides when a new epoch is due. An epoch costs each neighbour a signed header, some 240 bytes, and 8 to 15
// bits for each key added or removed. So a few changes wait for others, unless the last epoch was long ago.
type Schedule struct {
	changes int           // since the last epoch was begun
	since   time.Duration // when the first of them came
	last    time.Duration // when the last epoch was begun
	Keys    int           // of the last epoch
	begun   bool          // there was one
	Rest    time.Duration // between epochs at least, if that is longer than spacing
	Spacing time.Duration // between epochs at least; 0: 20 s
	moved   bool          // the addresses that go with the epoch have changed
	movedAt time.Duration // when they did
	urgent  bool          // others cannot learn of the changes but by an epoch

	tailed      int           // changes since the last epoch that tails have carried
	tailedSince time.Duration // when a tail carried the first of them
}

// Spacings that an epoch's cost may come to.
const (
	LeastSpacing = time.Second
	MostSpacing  = spacing
)

// Space sets the spacing by what an epoch takes of the line.
func (s *Schedule) Space(seconds float64) {
	s.Spacing = min(max(time.Duration(seconds*float64(time.Second)), LeastSpacing), MostSpacing)
}

func (s *Schedule) spacing() time.Duration {
	if s.Spacing == 0 {
		return spacing
	}
	return s.Spacing
}

// Pressing is Changed for changes that tails cannot carry.
func (s *Schedule) Pressing(now time.Duration, changes int) {
	s.Changed(now, changes)
	s.urgent = true
}

// Tailed notes changes that a tail has carried. A later epoch takes them in.
func (s *Schedule) Tailed(now time.Duration, changes int) {
	if s.tailed == 0 {
		s.tailedSince = now
	}
	s.tailed += changes
}

// Changed notes changes of keys.
func (s *Schedule) Changed(now time.Duration, changes int) {
	if s.changes == 0 {
		s.since = now
	}
	s.changes += changes
}

// Waiting is how many changes no epoch has taken in, among those that no tail has carried.
func (s *Schedule) Waiting() int { return s.changes }

// Moved notes that the node's addresses have changed, which go with an epoch.
func (s *Schedule) Moved(now time.Duration) {
	if !s.moved {
		s.moved, s.movedAt = true, now
	}
}

// Slept notes that the last epoch is older than the times given say: the clock has stood still for a while.
func (s *Schedule) Slept(d time.Duration) { s.last -= d }

// Due says whether a new epoch should begin now.
func (s *Schedule) Due(now time.Duration) bool {
	switch {
	case s.begun && s.moved && now >= s.movedAt+settle && now >= s.last+moving:
		return true
	case s.changes == 0:
		return s.begun && now >= s.last+renewal || s.tailed > 0 && now >= s.tailedSince+overdue
	case now < s.since+settle, s.begun && now < s.last+max(s.spacing(), s.Rest):
		return false
	case !s.begun, s.urgent, s.since >= s.last+s.spacing(): // after a quiet time
		return true
	}
	return s.changes*enough >= s.Keys || now >= s.since+overdue
}

// Begin notes that an epoch begins now, with all changes so far.
func (s *Schedule) Begin(now time.Duration) {
	s.changes, s.tailed, s.urgent, s.moved, s.last, s.begun = 0, 0, false, false, now, true
}
