package node

import "time"

// When a node makes a new summary of its keys.
const (
	settle  = 500 * time.Millisecond // from the first change after a quiet time to a new epoch
	spacing = 20 * time.Second       // between epochs at least; a time without changes is quiet when it was as long
	enough  = 1000                   // one key in so many changed: enough for a new epoch when there was no quiet time
	overdue = 2 * time.Minute        // that fewer changes wait for others at most

	restAfter = 50 // times what making it took, a summary for which all keys were read is not made again

	lifetime = time.Hour    // of a summary, from its first receipt
	renewal  = lifetime / 2 // between epochs at most, once there is one
)

// schedule decides when a new epoch is due. An epoch costs each neighbour a signed header, some 240 bytes, and 8 to 15 bits
// for each key added or removed: few changes wait for others, unless the one before was long ago.
type schedule struct {
	changes int           // since the last epoch was begun
	since   time.Duration // when the first of them came
	last    time.Duration // when the last epoch was begun
	keys    int           // of the last epoch
	begun   bool          // there was one
	rest    time.Duration // between epochs at least, if that is longer than spacing
}

// changed notes changes of keys.
func (s *schedule) changed(now time.Duration, changes int) {
	if s.changes == 0 {
		s.since = now
	}
	s.changes += changes
}

// due says whether a new epoch should begin now.
func (s *schedule) due(now time.Duration) bool {
	switch {
	case s.changes == 0:
		return s.begun && now >= s.last+renewal
	case now < s.since+settle, s.begun && now < s.last+max(spacing, s.rest):
		return false
	case !s.begun, s.since >= s.last+spacing: // after a quiet time
		return true
	}
	return s.changes*enough >= s.keys || now >= s.since+overdue
}

// begin notes that an epoch begins now, with all changes so far.
func (s *schedule) begin(now time.Duration) {
	s.changes, s.last, s.begun = 0, now, true
}
