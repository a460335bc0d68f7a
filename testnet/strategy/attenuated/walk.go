package attenuated

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// walk passes queries from peer to peer, to where filters match.
type walk struct {
	host strategy.Host
	hops int                  // most hops of a query
	came strategy.Visits[int] // number of peers that each query's walker had visited when it last came here
}

// walker is a query on its way from peer to peer.
type walker struct {
	query   strategy.Query
	asker   strategy.ID
	left    int           // hops that are left
	visited []strategy.ID // peers visited, in order, the asker first
	plan    []strategy.ID // peers to go to next
}

type hit struct{ hops int }

const (
	walkerBytes = strategy.Overhead + strategy.KeyBytes + 16 + 38
	nameBytes   = 8 // bytes of a peer's name in a walker
)

func newWalk(h strategy.Host, w strategy.World) walk {
	hops := mostHops
	if b := int(w.Params.Of(strategy.Budget)); b > 0 {
		hops = max(1, b-1) // one message is the answer
	}
	return walk{host: h, hops: hops}
}

// step handles the inputs of queries. next returns the unvisited peers to which a walker should go from here, in
// order.
func (m *walk) step(now time.Duration, in strategy.Input, next func(*walker) []strategy.ID) {
	switch in := in.(type) {
	case strategy.Started:
		w := walker{query: in.Query, asker: m.host.Self(), left: m.hops, visited: []strategy.ID{m.host.Self()}}
		m.pass(now, w, next)
	case strategy.Received:
		switch b := in.Message.Body.(type) {
		case walker:
			m.arrive(now, b, next)
		case hit:
			m.host.Found(in.Message.Query, in.From, b.hops)
		}
	case strategy.Failed:
		if w, ok := in.Message.Body.(walker); ok { // visited has the peer that failed
			m.pass(now, w, next)
		}
	}
}

// arrive handles a walker that has come. A walker may come again if it has visited more peers than the last time;
// else it is a copy, and is dropped.
func (m *walk) arrive(now time.Duration, w walker, next func(*walker) []strategy.ID) {
	if far, _ := m.came.Get(w.query.ID); far >= len(w.visited) {
		return
	}
	m.came.Put(now, w.query.ID, len(w.visited))
	if w.asker != m.host.Self() && m.host.Look(w.query.ID, w.query.Key) {
		hit := strategy.Message{Body: hit{len(w.visited) - 1}, Bytes: strategy.Overhead + 16 + 8, Query: w.query.ID}
		m.host.Send(w.asker, hit)
		if !w.query.All {
			return
		}
	}
	m.pass(now, w, next)
}

// pass sends a walker to the next peer of its plan. If next plans nothing, it sends the walker to a random
// neighbour, unvisited if there is one.
func (m *walk) pass(now time.Duration, w walker, next func(*walker) []strategy.ID) {
	if w.left == 0 || now >= w.query.Deadline {
		return
	}
	if len(w.plan) == 0 {
		w.plan = next(&w)
	}
	if len(w.plan) == 0 {
		links := m.host.Links()
		fresh := slices.DeleteFunc(slices.Clone(links), func(p strategy.ID) bool { return slices.Contains(w.visited, p) })
		if len(fresh) == 0 {
			fresh = links
		}
		if len(fresh) == 0 {
			return
		}
		w.plan = []strategy.ID{fresh[m.host.Rand().IntN(len(fresh))]}
	}
	to := w.plan[0]
	w.plan = w.plan[1:]
	w.visited = append(slices.Clone(w.visited), to)
	w.left--
	bytes := walkerBytes + nameBytes*(len(w.visited)+len(w.plan))
	m.host.Send(to, strategy.Message{Body: w, Bytes: bytes, Query: w.query.ID})
}
