package runs

import (
	"sync"
	"sync/atomic"
	"time"
)

// Crew does the tasks of a simulated run on several processors: its Each is sim.Config's. A run has ten thousand groups
// of tasks, of some 100 µs each, and on a virtual machine waking a processor takes as long. So a processor that waits
// looks again and again for a while before it sleeps, and nobody waits for a sleeping one.
//
// A processor begins with the same tasks in every group: their memory is in its cache then, and to fetch it from
// another processor's may take as long as the tasks. When it has done them it does tasks that others have not begun.
type Crew struct {
	size   int
	round  atomic.Pointer[round] // the latest; nil: none yet
	asleep atomic.Int32
	mu     sync.Mutex // of falling asleep, and of waking
	awake  *sync.Cond
}

// awakeFor is the time for which a processor looks before it sleeps.
const awakeFor = 300 * time.Microsecond

// round is a call of Each.
type round struct {
	do     func(i int)  // nil: there is nothing to do any more
	left   atomic.Int64 // tasks
	shares []share      // by processor
}

// share is the tasks that a processor begins with.
type share struct {
	next atomic.Int64
	end  int64
	_    [112]byte // no two shares are in one line of a cache
}

// NewCrew starts a crew of a number of processors, the caller of Each among them. Close ends it.
func NewCrew(processors int) *Crew {
	c := &Crew{size: 1}
	c.awake = sync.NewCond(&c.mu)
	c.Grow(processors)
	return c
}

// Grow makes it a crew of more processors, unless it has that number. It is not called during Each.
func (c *Crew) Grow(processors int) {
	for ; c.size < processors; c.size++ {
		go c.work(c.size)
	}
}

// Close ends the crew, after the last call of Each.
func (c *Crew) Close() { c.begin(&round{}) }

// Each calls do(0) to do(n-1), in any order, and returns when all are done. It is called by one at a time.
func (c *Crew) Each(n int, do func(i int)) {
	if c.size == 1 {
		for i := range n {
			do(i)
		}
		return
	}
	r := &round{do: do, shares: make([]share, c.size)}
	r.left.Store(int64(n))
	for i := range r.shares {
		r.shares[i].next.Store(int64(i * n / c.size))
		r.shares[i].end = int64((i + 1) * n / c.size)
	}
	c.begin(r)
	c.take(r, 0)
	c.await(func() bool { return r.left.Load() == 0 })
}

func (c *Crew) begin(r *round) {
	c.round.Store(r)
	c.wake()
}

// work takes part in round after round.
func (c *Crew) work(processor int) {
	for last := (*round)(nil); ; {
		c.await(func() bool { return c.round.Load() != last })
		if last = c.round.Load(); last.do == nil {
			return
		}
		c.take(last, processor)
	}
}

// take does the tasks of a processor's share, and then the others'.
func (c *Crew) take(r *round, processor int) {
	done := int64(0)
	for k := range r.shares {
		s := &r.shares[(processor+k)%len(r.shares)]
		for s.next.Load() < s.end {
			if i := s.next.Add(1) - 1; i < s.end {
				r.do(int(i))
				done++
			}
		}
	}
	if done > 0 && r.left.Add(-done) == 0 {
		c.wake()
	}
}

// await returns when something is so. Who makes it so calls wake then.
func (c *Crew) await(so func() bool) {
	const looks = 64 // between two at the clock
	began := time.Now()
	for n := 1; !so(); n++ {
		if n%looks > 0 || time.Since(began) < awakeFor {
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

// wake wakes all that sleep. A processor that counts as asleep only later looks again before it sleeps.
func (c *Crew) wake() {
	if c.asleep.Load() > 0 {
		c.mu.Lock()
		c.awake.Broadcast()
		c.mu.Unlock()
	}
}
