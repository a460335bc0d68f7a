package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/room"
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
	deltaBytes       int32         // of the last delta; 0: there was none
	*rare
}

// rare is the half of an origin that is empty most of the time. Origins with an empty one share it. It is read through
// the origin and written through [origin.own].
type rare struct {
	newerThan  summary.Epoch // the last epoch heard of that was later than the newest held
	newerSince time.Duration // and when
	ask        *ask          // the one outstanding ask; noAsk, never nil
	step       *step         // what to ask for next; nil until it is planned
	fetchAt    time.Duration // no direct fetch before then
	refusals   int           // in a row, by links that should hold it
}

// nothing is the empty half that origins share. It is never written.
var nothing = &rare{ask: noAsk}

func newOrigin(e *directory.Entry, place space.Place) origin {
	return origin{Entry: e, place: place, rare: nothing}
}

// own returns the origin's own rare half, to be changed.
func (e *origin) own() *rare {
	if e.rare == nothing {
		e.rare = &rare{ask: noAsk}
	}
	return e.rare
}

// forgive forgets that links refused to send parts of the origin.
func (e *origin) forgive() {
	if e.refusals > 0 {
		e.own().refusals = 0
	}
}

// settle drops from the rare half what no longer matters: news of an epoch that is held, the step from a prefix that has
// grown, and a wait that is over.
func (e *origin) settle(now time.Duration) {
	r := e.rare
	if r == nothing {
		return
	}
	if ep, _ := e.Epoch(); !r.newerThan.After(ep) && now-r.newerSince >= deltaPatience {
		r.newerThan, r.newerSince = summary.Epoch{}, 0
	}
	if r.step != nil && r.step.prefix != e.Newest() {
		r.step = nil
	}
	if now >= r.fetchAt {
		r.fetchAt = 0
	}
	if *r == *nothing {
		e.rare = nothing
	}
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
		x.origins = append(room.Grow(x.origins), origin{})
	}
	x.origins[e.Index()] = newOrigin(e, place)
	x.wake(&x.origins[e.Index()])
}
