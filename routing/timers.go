package routing

import "container/heap"

// timers is a heap of the open queries by the time at which each must be looked at again, then by ID.
type timers []*search

func (t timers) Len() int { return len(t) }

func (t timers) Less(i, j int) bool {
	if t[i].wake != t[j].wake {
		return t[i].wake < t[j].wake
	}
	return t[i].ID < t[j].ID
}

func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].timer, t[j].timer = i, j
}

// Push is for package heap; use add.
func (t *timers) Push(x any) {
	q := x.(*search)
	q.timer = len(*t)
	*t = append(*t, q)
}

// Pop is for package heap; use remove.
func (t *timers) Pop() any {
	last := len(*t) - 1
	q := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	return q
}

func (t *timers) add(q *search)    { heap.Push(t, q) }
func (t *timers) remove(q *search) { heap.Remove(t, q.timer) }
func (t *timers) moved(q *search)  { heap.Fix(t, q.timer) }
