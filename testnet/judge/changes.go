package judge

import (
	"sync"
	"time"
)

// Changes is the truth while collections change. An answer is judged against the time that its query ran. Nobody can
// know at once of a peer that took in or dropped the key in that time, or within the grace before. Such a peer counts
// neither for nor against the answer, and naming it is not wrong. It is safe for concurrent use, and costs a few words
// a change.
type Changes struct {
	start *Truth
	grace time.Duration

	mu  sync.RWMutex
	log map[uint32][]change // by key, in the order of time
}

// change is that a peer took in or dropped a key.
type change struct {
	at   time.Duration
	peer int
	held bool
}

// NewChanges begins with a truth. Times are since any one instant; grace is how long a change takes to become known.
func NewChanges(start *Truth, grace time.Duration) *Changes {
	return &Changes{start: start, grace: grace, log: make(map[uint32][]change)}
}

// Note notes that from an instant on the peer holds the key, or no longer does. Times of one key don't go back.
func (c *Changes) Note(at time.Duration, peer int, key uint32, held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log[key] = append(c.log[key], change{at, peer, held})
}

// during returns the peers that held the key at any time that counts for a query between two instants. The value is
// whether a peer held it throughout.
func (c *Changes) during(key uint32, from, to time.Duration) map[int]bool {
	holders := make(map[int]bool)
	for _, p := range c.start.Holders(key) {
		holders[int(p)] = true
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, ch := range c.log[key] {
		switch {
		case ch.at > to:
		case ch.at > from-c.grace:
			holders[ch.peer] = false
		case ch.held:
			holders[ch.peer] = true
		default:
			delete(holders, ch.peer)
		}
	}
	return holders
}

// Mark marks an answer to a query that ran from one instant to another.
func (c *Changes) Mark(asker int, key uint32, all bool, named []int, from, to time.Duration) Mark {
	holders := c.during(key, from, to)
	findable := 0
	for p, steady := range holders {
		if steady && p != asker {
			findable++
		}
	}
	return mark(asker, all, named, findable, func(p int) verdict {
		switch steady, held := holders[p]; {
		case !held:
			return wrong
		case !steady:
			return changing
		}
		return right
	})
}
