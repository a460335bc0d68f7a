// Package judge knows the true holders of every key, and scores the peers' answers and their choice of neighbours.
//
// No node reads it: a network that could look up the truth would prove nothing. It is safe for concurrent use. For
// its memory see package holdings.
package judge

import (
	"sync"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
)

// Truth has the true holders of all keys while collections change. It judges an answer by the time during which its
// query ran. A peer that added or dropped the key in that time, or within the grace before, counts neither for nor
// against the answer, because others cannot know at once. It is not wrong to name such a peer. A change costs a few
// words.
type Truth[P ~int32] struct {
	start *holdings.Table[P]
	grace time.Duration

	mu  sync.RWMutex
	log map[uint32][]change[P] // changes of each key, in order of time
}

// change is the addition of a key to a peer's collection, or its removal.
type change[P ~int32] struct {
	at   time.Duration
	peer P
	held bool
}

// New returns the truth with the holders at the start. All times count from the same instant. grace is the time that
// a change takes to become known.
func New[P ~int32](start *holdings.Table[P], grace time.Duration) *Truth[P] {
	return &Truth[P]{start: start, grace: grace, log: make(map[uint32][]change[P])}
}

// Note notes that the peer holds the key from an instant on if held, else that it no longer does. The times of one
// key must not decrease.
func (t *Truth[P]) Note(at time.Duration, peer P, key uint32, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log[key] = append(t.log[key], change[P]{at, peer, held})
}

// during returns the peers that held the key at any time from the grace before a query until its end. A peer's value
// in the map tells whether it held the key all that time.
func (t *Truth[P]) during(key uint32, from, to time.Duration) map[P]bool {
	holders := make(map[P]bool)
	for _, p := range t.start.Holders(key) {
		holders[p] = true
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, ch := range t.log[key] {
		switch {
		case ch.at > to:
		case ch.at > from-t.grace:
			holders[ch.peer] = false
		case ch.held:
			holders[ch.peer] = true
		default:
			delete(holders, ch.peer)
		}
	}
	return holders
}

// Mark returns the mark of an answer to a query that ran from one instant to another. A holder named twice counts
// once. The asker does not count, and a peer without the key counts as wrong. For a query that wants one holder, a
// holder that is changing counts as found, too.
func (t *Truth[P]) Mark(asker P, key uint32, all bool, named []P, from, to time.Duration) Mark {
	holders := t.during(key, from, to)
	delete(holders, asker)
	findable, found, wrong := 0, 0, 0
	for _, steady := range holders {
		if steady {
			findable++
		}
	}
	counted := map[P]bool{asker: true}
	for _, p := range named {
		if counted[p] {
			continue
		}
		counted[p] = true
		steady, held := holders[p]
		switch {
		case !held:
			wrong++
		case steady || !all:
			found++
		}
	}
	m := MarkOf(found, findable, all)
	m.Wrong = wrong
	return m
}
