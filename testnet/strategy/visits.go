package strategy

import "time"

// visits is what a peer remembers of queries that came by: for forgetVisits at least, and twice as long at most.
type visits[V any] struct {
	young, old map[QueryID]*V
	turn       time.Duration // when young became old last
}

const forgetVisits = time.Minute

// at is what is remembered of a query; the zero value of one that is new, which known says.
func (v *visits[V]) at(now time.Duration, q QueryID) (visit *V, known bool) {
	if v.young == nil || now-v.turn >= forgetVisits {
		v.old, v.young, v.turn = v.young, map[QueryID]*V{}, now
	}
	if visit, known = v.young[q]; known {
		return visit, true
	}
	if visit, known = v.old[q]; !known {
		visit = new(V)
	}
	v.young[q] = visit
	return visit, known
}
