package core

import "time"

// Lifetime is the time for which a summary counts after its first receipt. Each renewal without a change doubles it, up
// to mostLifetime: a peer that has been there for long is likely to stay for as long again.
const (
	Lifetime     = 2 * time.Hour
	mostLifetime = 16 * Lifetime
)

// LeastSpacing and MostSpacing bound the time between two epochs of one seed.
const (
	LeastSpacing = time.Second
	MostSpacing  = 20 * time.Second
)

// GoodbyeTime is the longest time that a leaving peer waits until its last messages are sent.
const GoodbyeTime = 200 * time.Millisecond

const (
	settle  = 500 * time.Millisecond // time from the first change after a quiet time to a new epoch
	moving  = 3 * time.Second        // least time between epochs if only addresses change
	enough  = 1000                   // an epoch is due once one key in this many has changed
	overdue = 2 * time.Minute        // longest time that fewer changes wait for more

	// restAfter bounds the processor time for epochs under a previous seed, each of which reads all keys. The pause
	// after an epoch is restAfter times as long as its making.
	restAfter = 50

	never = time.Duration(1<<63 - 1)
)

// schedule decides when a new epoch is due. An epoch costs each neighbour a signed header, some 240 bytes, and 8 to 15
// bits for each key added or removed. So a few changes wait for more. They do not wait after a quiet time, which is
// one without changes that lasted at least the spacing.
type schedule struct {
	changes int           // number of changes that wait for an epoch
	since   time.Duration // when the first of these changes occurred
	urgent  bool          // only an epoch can carry these changes
	carried bool          // tails have carried changes since the last epoch
	tailed  time.Duration // when a tail carried the first of these changes
	moved   bool          // the addresses that go with the epoch have changed
	movedAt time.Duration

	begun   bool          // there was an epoch before
	last    time.Duration // when the last epoch was begun
	life    time.Duration // lifetime of the last epoch
	keys    int           // number of keys in the last epoch
	spacing time.Duration // least time between epochs
}

// wait sets the number of changes that wait for an epoch, including the changes that waited before.
func (s *schedule) wait(now time.Duration, changes int, urgent bool) {
	if s.changes == 0 {
		s.since = now
	}
	s.changes, s.urgent = changes, s.urgent || urgent
}

// tail records that a tail carries the waiting changes. A later epoch includes them.
func (s *schedule) tail(now time.Duration) {
	if !s.carried {
		s.carried, s.tailed = true, now
	}
}

// move records that the addresses that go with an epoch have changed.
func (s *schedule) move(now time.Duration) {
	if !s.moved {
		s.moved, s.movedAt = true, now
	}
}

// due returns when the next epoch is due; never if none is.
func (s *schedule) due() time.Duration {
	at := never
	if s.begun && s.moved {
		at = max(s.movedAt+settle, s.last+moving)
	}
	if s.begun && s.changes == 0 {
		at = min(at, s.last+s.life/2)
	}
	if s.carried && s.changes == 0 {
		at = min(at, s.tailed+overdue)
	}
	if s.changes > 0 {
		at = min(at, s.changed())
	}
	return at
}

// changed returns when an epoch is due for the changes that wait.
func (s *schedule) changed() time.Duration {
	at := s.since + settle
	if !s.begun {
		return at
	}
	at = max(at, s.last+s.spacing)
	if s.urgent || s.since >= s.last+s.spacing || s.changes*enough >= s.keys {
		return at
	}
	return max(at, s.since+overdue)
}

// begin records that an epoch with all changes so far begins now. It returns the epoch's lifetime.
func (s *schedule) begin(now time.Duration) time.Duration {
	life := Lifetime
	if s.begun && s.changes == 0 && !s.carried && !s.moved {
		life = min(2*s.life, mostLifetime)
	}
	*s = schedule{begun: true, last: now, life: life, keys: s.keys, spacing: s.spacing}
	return life
}
