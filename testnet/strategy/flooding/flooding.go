// Package flooding passes queries to all neighbours, as Gnutella did.
package flooding

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy passes a query to all neighbours, and each passes it on to its own, until its time to live is over.
var Strategy = strategy.Strategy{
	Name:   "flooding",
	Source: "Gnutella 0.4 protocol specification (Clip2, 2000)",
	Model: "time to live 7, or as many hops as Params.Budget allows when every peer has as many links as the asker. A query " +
		"seen before is dropped. A holder answers along the way that the query came and, if one holder is wanted, passes " +
		"the query on no further. No upkeep but the links themselves.",
	Parameters: []strategy.Parameter{strategy.Budget.By("a time to live of 7")},
	Open: func(w strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer {
			return &peer{host: h, budget: int(w.Params.Of(strategy.Budget))}
		}, nil
	},
}

const (
	timeToLive = 7
	queryBytes = strategy.Overhead + 23 + 2 + strategy.KeyBytes // descriptor header, speed and flags, search criteria
	hitBytes   = strategy.Overhead + 23 + 11 + 16 + 8 + 34      // descriptor header, hit header, servent id, one result
)

type peer struct {
	host   strategy.Host
	budget int                          // messages of a query; 0: no bound
	seen   strategy.Visits[strategy.ID] // the peer from which each query came; this peer for its own
}

type query struct {
	query strategy.Query
	ttl   int // hops that are left
	hops  int // hops to the receiver
}

type hit struct {
	holder strategy.ID
	hops   int // hops from the asker to the holder
}

func (f *peer) Step(now time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Started:
		f.seen.Put(now, in.Query.ID, f.host.Self())
		f.pass(query{query: in.Query, ttl: f.ttl()}, f.host.Self())
	case strategy.Received:
		switch b := in.Message.Body.(type) {
		case query:
			f.query(now, in.From, b)
		case hit:
			f.hit(in.Message.Query, b)
		}
	}
}

// ttl returns the most hops of this peer's queries: fewer than timeToLive if they would cost more than the budget.
func (f *peer) ttl() int {
	if f.budget == 0 {
		return timeToLive
	}
	links, ttl := len(f.host.Links()), 1
	for all, level := links, links; ttl < timeToLive; ttl++ {
		level *= max(1, links-1)
		if all += level; all > f.budget {
			break
		}
	}
	return ttl
}

// pass sends a query to all neighbours but the one from which it came.
func (f *peer) pass(q query, from strategy.ID) {
	q.ttl--
	q.hops++
	m := strategy.Message{Body: q, Bytes: queryBytes, Query: q.query.ID}
	for _, p := range f.host.Links() {
		if p != from {
			f.host.Send(p, m)
		}
	}
}

// query handles a query from a neighbour. The peer answers if it holds the key, and may pass the query on.
func (f *peer) query(now time.Duration, from strategy.ID, q query) {
	if _, seen := f.seen.Get(q.query.ID); seen {
		return
	}
	f.seen.Put(now, q.query.ID, from)
	if f.host.Look(q.query.ID, q.query.Key) {
		f.host.Send(from, strategy.Message{Body: hit{f.host.Self(), q.hops}, Bytes: hitBytes, Query: q.query.ID})
		if !q.query.All {
			return
		}
	}
	if q.ttl > 0 {
		f.pass(q, from)
	}
}

// hit sends an answer back over the way that the query came.
func (f *peer) hit(q strategy.QueryID, b hit) {
	from, seen := f.seen.Get(q)
	switch {
	case !seen:
	case from == f.host.Self():
		f.host.Found(q, b.holder, b.hops)
	default:
		f.host.Send(from, strategy.Message{Body: b, Bytes: hitBytes, Query: q})
	}
}
