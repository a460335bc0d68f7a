package overlaylab

import (
	"cmp"
	"container/heap"
	"time"
)

// Clock is virtual time, and what is to be done later. Tasks of one instant are done in the order in which they were
// planned. The zero value is at 0, without tasks.
type Clock struct {
	Now   time.Duration
	tasks tasks
	seq   int
}

// After plans a task after a delay; a negative one counts as 0.
func (c *Clock) After(delay time.Duration, do func()) {
	c.seq++
	heap.Push(&c.tasks, task{c.Now + max(delay, 0), c.seq, do})
}

// Run does all tasks that are due by a time, and sets the clock to it.
func (c *Clock) Run(until time.Duration) {
	for len(c.tasks) > 0 && c.tasks[0].at <= until {
		t := heap.Pop(&c.tasks).(task)
		c.Now = t.at
		t.do()
	}
	c.Now = max(c.Now, until)
}

// RunAll does tasks until none is left.
func (c *Clock) RunAll() {
	for len(c.tasks) > 0 {
		c.Run(c.tasks[0].at)
	}
}

type task struct {
	at  time.Duration
	seq int
	do  func()
}

type tasks []task

func (t tasks) Len() int { return len(t) }

func (t tasks) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(t[i].at, t[j].at), t[i].seq-t[j].seq) < 0
}

func (t tasks) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push is for package heap.
func (t *tasks) Push(x any) { *t = append(*t, x.(task)) }

// Pop is for package heap.
func (t *tasks) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
