package strategy

import "time"

// Visits remembers a value for each query that came by a peer, for at least a minute. The zero value is empty.
type Visits[V any] struct {
	young, old map[QueryID]V
	turn       time.Duration // when young last became old
}

const forgotten = time.Minute

// Get returns the value of a query. For an unknown query it returns the zero value, and known is false.
func (v *Visits[V]) Get(q QueryID) (visit V, known bool) {
	if visit, known = v.young[q]; !known {
		visit, known = v.old[q]
	}
	return visit, known
}

// Put sets the value of a query. If it last forgot values a minute ago or earlier, it now forgets all that were put
// before then.
func (v *Visits[V]) Put(now time.Duration, q QueryID, visit V) {
	if v.young == nil || now-v.turn >= forgotten {
		v.old, v.young, v.turn = v.young, map[QueryID]V{}, now
	}
	v.young[q] = visit
}
