package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// asker draws the queries, evenly spread over the time for them. A peer that is online asks each, for a key that the
// peer lacks and another that is online holds. Nine in ten are for what a peer of the same interest holds.
type asker struct {
	cfg   *Config
	rng   *rand.Rand
	asked int // queries planned so far, or given up
}

// sameInterest is the share of queries for what a peer of the same interest holds.
const sameInterest = 0.9

// due is when the next query begins.
func (a *asker) due() time.Duration {
	if asks := a.cfg.Script.Asks; asks != nil {
		if a.asked >= len(asks) {
			return math.MaxInt64
		}
		return asks[a.asked].At
	}
	if a.asked >= a.cfg.Queries {
		return math.MaxInt64
	}
	return a.cfg.Warmup + time.Duration(float64(a.cfg.Asking)*float64(a.asked)/float64(a.cfg.Queries))
}

// ask plans the next query; none when nobody is found who could ask for something.
func (s *Sim) ask() {
	a := &s.asker
	at := a.due()
	a.asked++
	if asks := s.cfg.Script.Asks; asks != nil {
		q := asks[a.asked-1]
		if s.churn.online[q.Peer] && !s.held.Holds(q.Peer, q.Key) {
			s.begins(q)
		}
		return
	}
	for range 100 {
		p := strategy.ID(a.rng.IntN(len(s.nodes)))
		if !s.churn.online[p] {
			continue
		}
		key, ok := a.key(p)
		if ok && s.findable(p, key) > 0 {
			s.begins(Ask{at, p, key})
			return
		}
	}
}

// begins plans that a query begins.
func (s *Sim) begins(q Ask) {
	id := s.tally.add(q.Peer, q.At, q.Key, s.findable(q.Peer, q.Key))
	s.push(event{at: q.At, to: q.Peer, kind: start, msg: strategy.Message{Query: id}})
}

// key draws a key for a peer to look for; ok is false if it holds that.
func (a *asker) key(p strategy.ID) (key uint32, ok bool) {
	d := a.cfg.Data
	other := strategy.ID(a.rng.IntN(d.Peers()))
	if like := d.Alike(p); len(like) > 1 && a.rng.Float64() < sameInterest {
		other = pick(like, a.rng)
	}
	key = pick(d.Collection(other), a.rng)
	return key, !d.Holds(p, key)
}

// findable is how many others that are online hold a key.
func (s *Sim) findable(asker strategy.ID, key uint32) int {
	n := 0
	for _, p := range s.held.Holders(key) {
		if p != asker && s.churn.online[p] {
			n++
		}
	}
	return n
}

// query is a peer's view of a query.
func (s *Sim) query(id strategy.QueryID) strategy.Query {
	q := &s.tally.queries[id-1]
	return strategy.Query{ID: id, Key: s.cfg.Data.Key(q.key), All: s.cfg.All, Deadline: q.start + s.cfg.Patience}
}
