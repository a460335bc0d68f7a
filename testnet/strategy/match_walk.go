package strategy

import (
	"slices"
	"time"
)

// matchWalk walks queries from peer to peer, to where filters match.
type matchWalk struct {
	host Host
	hops int // of a query
}

// matchWalker is a query on its way.
type matchWalker struct {
	query   Query
	asker   ID
	left    int  // further hops
	visited []ID // in the order of visits, the asker first
	plan    []ID // peers to go to next
}

type matchHit struct{ hops int }

const (
	matchWalkerBytes = Overhead + KeyBytes + 16 + 38
	matchNameBytes   = 8 // of a peer in a walker
)

func newMatchWalk(h Host, w World) matchWalk {
	hops := attenuatedHops
	if w.Params.Budget > 0 {
		hops = max(1, w.Params.Budget-1) // and the answer
	}
	return matchWalk{host: h, hops: hops}
}

// step takes in what concerns queries. next tells where a walker should go from here, in order: peers that it hasn't visited.
func (m *matchWalk) step(now time.Duration, in Input, next func(*matchWalker) []ID) {
	switch in := in.(type) {
	case Started:
		w := matchWalker{query: in.Query, asker: m.host.Self(), left: m.hops, visited: []ID{m.host.Self()}}
		m.pass(now, w, next)
	case Received:
		switch b := in.Message.Body.(type) {
		case matchWalker:
			m.arrive(now, b, next)
		case matchHit:
			m.host.Found(in.Message.Query, in.From, b.hops)
		}
	case Failed:
		if w, ok := in.Message.Body.(matchWalker); ok { // it has been there in vain
			m.pass(now, w, next)
		}
	}
}

func (m *matchWalk) arrive(now time.Duration, w matchWalker, next func(*matchWalker) []ID) {
	if w.asker != m.host.Self() && m.host.Look(w.query.ID, w.query.Key) {
		hit := Message{Body: matchHit{len(w.visited) - 1}, Bytes: Overhead + 16 + 8, Query: w.query.ID}
		m.host.Send(w.asker, hit)
		if !w.query.All {
			return
		}
	}
	m.pass(now, w, next)
}

// pass sends a walker where it is to go, and where nothing is known to a neighbour by chance, rather to a new one.
func (m *matchWalk) pass(now time.Duration, w matchWalker, next func(*matchWalker) []ID) {
	if w.left == 0 || now >= w.query.Deadline {
		return
	}
	if len(w.plan) == 0 {
		w.plan = next(&w)
	}
	if len(w.plan) == 0 {
		links := m.host.Links()
		fresh := slices.DeleteFunc(slices.Clone(links), func(p ID) bool { return slices.Contains(w.visited, p) })
		if len(fresh) == 0 {
			fresh = links
		}
		if len(fresh) == 0 {
			return
		}
		w.plan = []ID{fresh[m.host.Rand().IntN(len(fresh))]}
	}
	to := w.plan[0]
	w.plan = w.plan[1:]
	w.visited = append(slices.Clone(w.visited), to)
	w.left--
	bytes := matchWalkerBytes + matchNameBytes*(len(w.visited)+len(w.plan))
	m.host.Send(to, Message{Body: w, Bytes: bytes, Query: w.query.ID})
}
