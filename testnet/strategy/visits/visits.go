// Package visits remembers queries that came by.
package visits

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Visits is what a peer remembers of queries that came by: for a minute at least, and two at most.
type Visits[V any] struct {
	young, old map[strategy.QueryID]*V
	turn       time.Duration // when young became old last
}

const forgotten = time.Minute

// At is what is remembered of a query; the zero value of one that is new, which known says.
func (v *Visits[V]) At(now time.Duration, q strategy.QueryID) (visit *V, known bool) {
	if v.young == nil || now-v.turn >= forgotten {
		v.old, v.young, v.turn = v.young, map[strategy.QueryID]*V{}, now
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
