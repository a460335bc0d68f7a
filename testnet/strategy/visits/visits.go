// Package visits remembers queries that came by.
package visits

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Visits is a peer's memory of queries that came by: for a minute at least, and two at most.
type Visits[V any] struct {
	young, old Table[V]
	turn       time.Duration // when young became old last
}

const forgotten = time.Minute

// At returns the memory of a query; for a new one the zero value, and known is false. It is valid until the next call.
func (v *Visits[V]) At(now time.Duration, q strategy.QueryID) (visit *V, known bool) {
	if v.young.n == 0 || now-v.turn >= forgotten {
		v.old, v.young, v.turn = v.young, Table[V]{}, now
	}
	if visit = v.young.At(q); visit != nil {
		return visit, true
	}
	var was V
	if visit = v.old.At(q); visit != nil {
		was, known = *visit, true
	}
	return v.young.Put(q, was), known
}
