package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/summary"
)

// origin is what the exchange knows of one entry of the directory, beside the entry itself. Origins lie side by side in
// memory: a pointer to one holds until the next is added, so what is kept from one step to another is the entry.
type origin struct {
	*directory.Entry // nil: there is none
	place            space.Place
	quiet            time.Duration // nobody offered more when last looked; not looked again before then
	rest             int32         // 1 + its place among the lookout's rests; 0: it has none
	deltaBytes       int           // of the last delta; 0: there was none
	newerThan        summary.Epoch // the last epoch heard of that was later than the newest held
	newerSince       time.Duration // and when
	ask              ask           // the one outstanding ask; zero: nothing is asked about it
	step             step          // what to ask for next, as last planned
	fetchAt          time.Duration // no direct fetch before then
	refusals         int           // in a row, by links that should hold it
}

// origin returns the origin with a directory index; nil if there is no entry.
func (x *Exchange) origin(i int) *origin {
	if i >= len(x.origins) || x.origins[i].Entry == nil {
		return nil
	}
	return &x.origins[i]
}

// originOf returns the origin of an entry; nil if the entry was removed.
func (x *Exchange) originOf(of *directory.Entry) *origin {
	if e := x.origin(of.Index()); e != nil && e.Entry == of {
		return e
	}
	return nil
}

func (x *Exchange) isOwn(e *origin) bool { return e.Index() < x.owns }

// Added notes that there is a new entry in the directory.
func (x *Exchange) Added(e *directory.Entry, place space.Place) {
	for len(x.origins) <= e.Index() {
		x.origins = append(x.origins, origin{})
	}
	x.origins[e.Index()] = origin{Entry: e, place: place}
	x.wake(&x.origins[e.Index()])
}
