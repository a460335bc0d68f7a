package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/summary"
)

// origin is the exchange's record of one entry of the directory. Origins lie side by side in memory: a pointer to one
// is valid only until the next is added. So code that refers to an origin across steps keeps its entry.
type origin struct {
	*directory.Entry // nil: there is none
	place            space.Place
	newerThan        summary.Epoch // latest epoch heard of that was newer than the newest held
	ask              ask           // the one outstanding ask; zero: nothing is asked about it
	step             step          // the next parts to ask for, as last planned
	fetchAt          time.Duration // no direct fetch before this time
	refusals         int           // failed fetches in a row from links that should hold it
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

// Added notes a new entry of the directory.
func (x *Exchange) Added(e *directory.Entry, place space.Place) {
	for len(x.origins) <= e.Index() {
		x.origins, x.rests = append(x.origins, origin{}), append(x.rests, agenda.Never)
	}
	x.origins[e.Index()] = origin{Entry: e, place: place}
	x.wake(&x.origins[e.Index()])
}
