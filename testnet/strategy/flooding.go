package strategy

import (
	"time"
)

// Flooding passes a query to all neighbours, which pass it on to theirs, as far as its time to live says.
var Flooding = Strategy{
	Name:   "flooding",
	Source: "Gnutella 0.4 protocol specification (Clip2, 2000)",
	Model: "time to live 7, or as many hops as Params.Budget allows when every peer has as many links as the asker; a query seen before is dropped; a holder answers along the way that the query came and, if one " +
		"holder is wanted, passes the query on no further. No upkeep but the links themselves.",
	Open: func(w World) (Factory, error) {
		return func(h Host) Peer { return &flooding{host: h, budget: w.Params.Budget, seen: map[QueryID]visit{}} }, nil
	},
}

const (
	floodTTL        = 7
	floodQueryBytes = Overhead + 23 + 2 + KeyBytes     // descriptor header, speed and flags, search criteria
	floodHitBytes   = Overhead + 23 + 11 + 16 + 8 + 34 // descriptor header, hit header, servent id, one result
	floodForget     = 2 * time.Minute
)

type flooding struct {
	host   Host
	budget int // messages of a query; 0: no bound
	seen   map[QueryID]visit
	old    map[QueryID]visit // seen before those in seen
	turn   time.Duration     // when seen became old last
}

// visit is a query that came by, and where from; its asker has its own id there.
type visit struct{ from ID }

type floodQuery struct {
	query Query
	ttl   int // further hops
	hops  int // so far
}

type floodHit struct {
	holder ID
	hops   int // from the asker to the holder
}

func (f *flooding) Step(now time.Duration, in Input) {
	if now-f.turn >= floodForget {
		f.old, f.seen, f.turn = f.seen, map[QueryID]visit{}, now
	}
	switch in := in.(type) {
	case Started:
		f.seen[in.Query.ID] = visit{f.host.Self()}
		f.pass(floodQuery{query: in.Query, ttl: f.ttl()}, f.host.Self())
	case Received:
		switch b := in.Message.Body.(type) {
		case floodQuery:
			f.query(in.From, b)
		case floodHit:
			f.hit(in.Message.Query, b)
		}
	}
}

// ttl is how far an own query goes.
func (f *flooding) ttl() int {
	if f.budget == 0 {
		return floodTTL
	}
	links, ttl := len(f.host.Links()), 1
	for all, level := links, links; ttl < floodTTL; ttl++ {
		level *= max(1, links-1)
		if all += level; all > f.budget {
			break
		}
	}
	return ttl
}

// pass sends a query to all neighbours but the one that it came from.
func (f *flooding) pass(q floodQuery, from ID) {
	q.ttl--
	q.hops++
	m := Message{Body: q, Bytes: floodQueryBytes, Query: q.query.ID}
	for _, p := range f.host.Links() {
		if p != from {
			f.host.Send(p, m)
		}
	}
}

func (f *flooding) query(from ID, q floodQuery) {
	if _, known := f.visited(q.query.ID); known {
		return
	}
	f.seen[q.query.ID] = visit{from}
	if f.host.Look(q.query.ID, q.query.Key) {
		f.host.Send(from, Message{Body: floodHit{f.host.Self(), q.hops}, Bytes: floodHitBytes, Query: q.query.ID})
		if !q.query.All {
			return
		}
	}
	if q.ttl > 0 {
		f.pass(q, from)
	}
}

// hit sends an answer back the way that the query came.
func (f *flooding) hit(q QueryID, b floodHit) {
	v, known := f.visited(q)
	switch {
	case !known:
	case v.from == f.host.Self():
		f.host.Found(q, b.holder, b.hops)
	default:
		f.host.Send(v.from, Message{Body: b, Bytes: floodHitBytes, Query: q})
	}
}

func (f *flooding) visited(q QueryID) (visit, bool) {
	if v, ok := f.seen[q]; ok {
		return v, true
	}
	v, ok := f.old[q]
	return v, ok
}
