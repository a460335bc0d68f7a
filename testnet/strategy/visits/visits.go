// Package visits remembers queries that came by.
package visits

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Visits is a peer's memory of queries that came by: for a minute at least, and two at most. The zero value is empty.
type Visits[V any] struct {
	young, old map[strategy.QueryID]V
	turn       time.Duration // when young became old last
}

const forgotten = time.Minute

// Get returns the memory of a query; for a new one the zero value, and known is false.
func (v *Visits[V]) Get(q strategy.QueryID) (visit V, known bool) {
	if visit, known = v.young[q]; !known {
		visit, known = v.old[q]
	}
	return visit, known
}

// Put sets the memory of a query, and forgets those of queries that came by long ago.
func (v *Visits[V]) Put(now time.Duration, q strategy.QueryID, visit V) {
	if v.young == nil || now-v.turn >= forgotten {
		v.old, v.young, v.turn = v.young, map[strategy.QueryID]V{}, now
	}
	v.young[q] = visit
}
