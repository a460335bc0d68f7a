package tails

import (
	"time"
)

const (
	// disbelief is the time for which a link that failed again to bring tails that it claimed to hold is not asked for
	// that origin. After a first failure it is briefDisbelief, because a message may have been lost.
	disbelief      = time.Minute
	briefDisbelief = rumourEvery
)

// failure records that a link has not brought tails of an origin that it claimed to hold. There are few.
type failure struct {
	until time.Duration // before then the link is not believed to hold more than we do
	lasts bool          // it has not brought any tails since
}

// fail notes a failure, if there is room to note anything of the link and the origin. The link is not believed for
// most, or less.
func (l *link) fail(tag uint64, now, most time.Duration) {
	if _, known := l.known[tag]; !known {
		return
	}
	pause := min(briefDisbelief, most)
	if l.failures[tag].lasts {
		pause = most
	}
	if l.failures == nil {
		l.failures = map[uint64]failure{}
	}
	l.failures[tag] = failure{until: now + pause, lasts: true}
}

// brought notes that the link has brought tails of an origin.
func (l *link) brought(tag uint64, now time.Duration) {
	if f := l.failures[tag]; now < f.until {
		l.failures[tag] = failure{until: f.until}
	} else {
		delete(l.failures, tag)
	}
}

// mistrusted reports whether the link is not believed to hold more of an origin than we do.
func (l *link) mistrusted(tag uint64, now time.Duration) bool { return now < l.failures[tag].until }
