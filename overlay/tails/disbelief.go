package tails

import "time"

// failure records that a link claimed to hold tails of an origin and has not brought them.
type failure struct {
	until time.Duration // time before which the link is not believed to hold more than we do
	lasts bool          // it has not brought any tails since
}

// fail notes a failure, if the link's position in the origin is noted. The link is then not believed for the duration
// most, or after a first failure for at most rumourEvery: a message may have been lost.
func (l *link) fail(tag uint64, now, most time.Duration) {
	if _, known := l.known[tag]; !known {
		return
	}
	pause := min(rumourEvery, most)
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
