package judge

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Key 1 is held by peers 0 and 2; peer 1 takes it in at 10 s, peer 2 drops it at 20 s.
func TestChanges(t *testing.T) {
	const s = time.Second
	c := NewChanges(New(6, small), 5*s)
	c.Note(10*s, 1, 1, true)
	c.Note(20*s, 2, 1, false)
	for _, q := range []struct {
		from, to        time.Duration
		named           []int
		all             bool
		found, findable int
		wrong           int
	}{
		{1 * s, 2 * s, []int{0, 2}, true, 2, 2, 0},
		{1 * s, 2 * s, []int{1, 9, -1}, true, 0, 2, 3},
		{9 * s, 11 * s, []int{0, 1}, true, 1, 2, 0}, // 1 is changing
		{14 * s, 14 * s, []int{1}, true, 0, 2, 0},
		{16 * s, 17 * s, []int{1}, true, 1, 3, 0},
		{24 * s, 24 * s, []int{0, 1, 2}, true, 2, 2, 0}, // 2 dropped it within the grace
		{26 * s, 26 * s, []int{0, 1, 2}, true, 2, 2, 1},
		{14 * s, 14 * s, []int{1}, false, 1, 1, 0}, // any holder will do
		{26 * s, 26 * s, []int{2}, false, 0, 1, 1},
	} {
		if m := c.Mark(3, 1, q.all, q.named, q.from, q.to); m != (Mark{q.found, q.findable, q.wrong}) {
			t.Errorf("%v to %v, %v named: %+v", q.from, q.to, q.named, m)
		}
	}
}

// A peer is steady if it holds the key at every instant that counts, and unknown if at none.
func TestChangesAgainstPlainSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys, sets := collections(t)
		start := New(keys, sets)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "changes"), 0))
		grace := time.Duration(rng.IntN(10))
		c := NewChanges(start, grace)
		var log []func(at time.Duration, held []bool)
		for at := time.Duration(1); at < 50; at++ {
			if p, held := rng.IntN(len(sets)), rng.IntN(2) == 0; rng.IntN(3) == 0 {
				c.Note(at, p, 0, held)
				log = append(log, func(now time.Duration, state []bool) {
					if now >= at {
						state[p] = held
					}
				})
			}
		}
		from := time.Duration(rng.IntN(50))
		to := from + time.Duration(rng.IntN(10))
		always, ever := make([]bool, len(sets)), make([]bool, len(sets))
		for now := from - grace; now <= to; now++ {
			for p := range sets {
				state := make([]bool, len(sets))
				state[p] = start.Has(p, 0)
				for _, apply := range log {
					apply(now, state)
				}
				always[p] = state[p] && (always[p] || now == from-grace)
				ever[p] = ever[p] || state[p]
			}
		}
		got := c.during(0, from, to)
		for p := range sets {
			steady, held := got[p]
			if held && !ever[p] && !touched(c, p, from-grace, to) || ever[p] && !held || steady && !always[p] {
				t.Fatalf("peer %d from %d to %d, grace %d: held %v, steady %v, want %v, %v", p, from, to, grace, held, steady, ever[p], always[p])
			}
		}
	})
}

// touched says whether a change of the peer was noted after one instant until another, even one that changed nothing.
func touched(c *Changes, peer int, after, to time.Duration) bool {
	for _, ch := range c.log[0] {
		if ch.peer == peer && ch.at > after && ch.at <= to {
			return true
		}
	}
	return false
}
