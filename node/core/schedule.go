package core

import "time"

// Lifetime of a summary from its first receipt, and the most of one that was renewed again and again without a change. Who
// has been there for long is likely to stay for as long. Its summary doubles its lifetime with each renewal.
const (
	Lifetime     = 2 * time.Hour
	mostLifetime = 16 * Lifetime
)

// LeastSpacing and MostSpacing bound the time between two epochs of one seed.
const (
	LeastSpacing = time.Second
	MostSpacing  = 20 * time.Second
)

// IdleLife is the time that a link that nothing needs may be idle before it is closed.
const IdleLife = 30 * time.Second

// GoodbyeTime is the longest time that a leaving peer waits for its last messages to go out.
const GoodbyeTime = 200 * time.Millisecond

const (
	settle  = 500 * time.Millisecond // from the first change after a quiet time to a new epoch
	moving  = 3 * time.Second        // least time between epochs when only addresses change
	enough  = 1000                   // changes of one key in this number make an epoch due
	overdue = 2 * time.Minute        // most time that fewer changes wait for others

	// restAfter bounds the share of processor time that epochs under a previous seed may take: each reads all keys.
	restAfter = 50

	never = time.Duration(1<<63 - 1)
)

// schedule decides when a new epoch is due. An epoch costs each neighbour a signed header, some 240 bytes, and 8 to 15
// bits for each key added or removed. So a few changes wait for others, unless the last epoch was long ago: a time
// without changes is quiet if it was as long as the spacing.
type schedule struct {
	changes int           // that wait for an epoch
	since   time.Duration // when the first of them came
	urgent  bool          // nothing but an epoch can tell of them
	carried bool          // tails have carried changes since the last epoch
	tailed  time.Duration // when they carried the first of them
	moved   bool          // the addresses that go with the epoch have changed
	movedAt time.Duration

	begun   bool          // there was an epoch
	last    time.Duration // when the last one was begun
	life    time.Duration // of it
	keys    int           // in it
	spacing time.Duration // least time between epochs
}

// wait sets the number of changes that wait for an epoch, earlier ones included.
func (s *schedule) wait(now time.Duration, changes int, urgent bool) {
	if s.changes == 0 {
		s.since = now
	}
	s.changes, s.urgent = changes, s.urgent || urgent
}

// tail notes that a tail carries changes. A later epoch takes them in.
func (s *schedule) tail(now time.Duration) {
	if !s.carried {
		s.carried, s.tailed = true, now
	}
}

// move notes that the addresses that go with an epoch have changed.
func (s *schedule) move(now time.Duration) {
	if !s.moved {
		s.moved, s.movedAt = true, now
	}
}

// due returns when the next epoch is due, or never.
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

// begin notes that an epoch begins now, with all changes so far, and returns its lifetime.
func (s *schedule) begin(now time.Duration) time.Duration {
	life := Lifetime
	if s.begun && s.changes == 0 && !s.carried && !s.moved {
		life = min(2*s.life, mostLifetime)
	}
	*s = schedule{begun: true, last: now, life: life, keys: s.keys, spacing: s.spacing}
	return life
}
