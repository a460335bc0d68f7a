package experiment

import (
	"sync"
	"sync/atomic"
	"time"
)

// Crew does the tasks of a simulated run on several processors: its Each is sim.Config's. A run has a hundred thousand
// groups of tasks, of some 50 µs each, and on a virtual machine waking a processor takes longer than that. So who waits
// looks again and again for a tenth of a millisecond before it sleeps, and nobody waits for one who sleeps.
type Crew struct {
	round  atomic.Pointer[round] // the latest; nil: none yet
	asleep atomic.Int32
	mu     sync.Mutex // of those who fall asleep, and of waking them
	awake  *sync.Cond
}

// round is a call of Each.
type round struct {
	tasks      int64
	do         func(i int) // nil: there is nothing to do any more
	next, left atomic.Int64
}

// NewCrew starts a crew of a number of processors, that of who calls Each among them. Close ends it.
func NewCrew(processors int) *Crew {
	c := &Crew{}
	c.awake = sync.NewCond(&c.mu)
	for range processors - 1 {
		go c.work()
	}
	return c
}

// crewOf is the Each of a run on a number of processors, and what ends it. One alone needs no crew.
func crewOf(processors int) (each func(n int, do func(i int)), end func()) {
	if processors < 2 {
		return nil, func() {}
	}
	c := NewCrew(processors)
	return c.Each, c.Close
}

// Close ends the crew, after the last call of Each.
func (c *Crew) Close() { c.begin(&round{}) }

// Each calls do(0) to do(n-1), in any order, and returns when all are done. It is called by one at a time.
func (c *Crew) Each(n int, do func(i int)) {
	r := &round{tasks: int64(n), do: do}
	r.left.Store(r.tasks)
	c.begin(r)
	c.take(r)
	c.await(func() bool { return r.left.Load() == 0 })
}

func (c *Crew) begin(r *round) {
	c.round.Store(r)
	c.wake()
}

// work takes part in round after round.
func (c *Crew) work() {
	for last := (*round)(nil); ; {
		c.await(func() bool { return c.round.Load() != last })
		if last = c.round.Load(); last.do == nil {
			return
		}
		c.take(last)
	}
}

// take does tasks of a round until none is left that nobody has begun.
func (c *Crew) take(r *round) {
	for i := r.next.Add(1) - 1; i < r.tasks; i = r.next.Add(1) - 1 {
		r.do(int(i))
		if r.left.Add(-1) == 0 {
			c.wake()
		}
	}
}

// await returns when something is so. Who makes it so calls wake then.
func (c *Crew) await(so func() bool) {
	const patience, looks = 100 * time.Microsecond, 256
	began := time.Now()
	for n := 1; !so(); n++ {
		if n%looks > 0 || time.Since(began) < patience {
			continue
		}
		c.mu.Lock()
		c.asleep.Add(1)
		for !so() {
			c.awake.Wait()
		}
		c.asleep.Add(-1)
		c.mu.Unlock()
		return
	}
}

// wake wakes all who sleep. Whoever counts as asleep after this has looked after it, too.
func (c *Crew) wake() {
	if c.asleep.Load() > 0 {
		c.mu.Lock()
		c.awake.Broadcast()
		c.mu.Unlock()
	}
}
