package sim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// churn knows which peers are online, and plans their coming and going.
type churn struct {
	online []bool
	moves  []Move            // planned moves that were not made yet, by time
	ends   [][]time.Duration // when each peer's sessions end, ascending
}

// leaves returns the end of the session that a peer is in at an instant, or always if no move ends it.
func (c *churn) leaves(p strategy.ID, from time.Duration) time.Duration {
	for _, end := range c.ends[p] {
		if end > from {
			return end
		}
	}
	return always
}

// settle fills ends from the moves, which must not change afterwards.
func (c *churn) settle() {
	c.ends = make([][]time.Duration, len(c.online))
	for _, m := range c.moves {
		if !m.Online {
			c.ends[m.Peer] = append(c.ends[m.Peer], m.At)
		}
	}
}

// newChurn applies the moves up to time 0, and leaves out moves that change nothing.
func newChurn(peers int, all []Move) churn {
	c := churn{online: slices.Repeat([]bool{true}, peers)}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Move) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Peer, b.Peer)) })
	now := slices.Clone(c.online)
	for _, m := range all {
		switch {
		case now[m.Peer] == m.Online:
		case m.At <= 0:
			now[m.Peer], c.online[m.Peer] = m.Online, m.Online
		default:
			now[m.Peer] = m.Online
			c.moves = append(c.moves, m)
		}
	}
	return c
}

// Churn sets how peers come and go.
type Churn struct {
	Median time.Duration // median length of a session; 0: nobody leaves
	Shape  float64       // shape of the Weibull distribution of sessions; 0: 0.5, many short ones and some very long
	Away   time.Duration // median length of an absence, of the same shape; 0: a tenth of a session's
}

// MaxSession is the longest median of sessions and of absences. A peer's history, which begins many of them before the
// run, is within the range of time.Duration.
const MaxSession = 10_000 * time.Hour

// Session is a time in which a peer is online.
type Session struct {
	From, To time.Duration
	Killed   bool // the peer goes without a goodbye
}

// Sessions draws the sessions of each peer in a run that ends at end. A session that ends later ends at end + 1. Each
// peer's history begins long before the run, so the number of peers online at the start is the same as later on average.
func (of Churn) Sessions(peers int, end time.Duration, rng *rand.Rand) [][]Session {
	of.Shape = cmp.Or(of.Shape, 0.5)
	of.Away = cmp.Or(of.Away, of.Median/10)
	out := make([][]Session, peers)
	for p := range out {
		if out[p] = []Session{{To: end + 1}}; of.Median > 0 {
			out[p] = of.history(end, rng)
		}
	}
	return out
}

// history returns the sessions of one peer. It begins longAgo medians before the run.
func (of Churn) history(end time.Duration, rng *rand.Rand) (out []Session) {
	const longAgo = 50
	before := longAgo * (of.Median + of.Away)
	for at := -before - time.Duration(rng.Float64()*float64(before)); at < end; at += weibull(of.Away, of.Shape, rng) {
		from := max(0, at)
		if at += weibull(of.Median, of.Shape, rng); at >= end {
			return append(out, Session{From: from, To: end + 1})
		}
		if at > 0 {
			out = append(out, Session{From: from, To: at})
		}
	}
	return out
}

// Moves returns the moves of peers with these sessions, in order of time. A move at 0 means that the peer is away at the
// start.
func Moves(of [][]Session, end time.Duration) (out []Move) {
	for i, sessions := range of {
		p := strategy.ID(i)
		if len(sessions) == 0 || sessions[0].From > 0 {
			out = append(out, Move{Peer: p})
		}
		for _, s := range sessions {
			if s.From > 0 {
				out = append(out, Move{At: s.From, Peer: p, Online: true})
			}
			if s.To <= end {
				out = append(out, Move{At: s.To, Peer: p, Killed: s.Killed})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Move) int { return cmp.Compare(a.At, b.At) })
	return out
}

// weibull draws from the Weibull distribution with a median and a shape; at least a second. It rounds to whole
// microseconds, because functions of package math may differ in the last bit between machines.
func weibull(median time.Duration, shape float64, rng *rand.Rand) time.Duration {
	x := math.Pow(-math.Log(1-float64(rng.Float64()))/math.Ln2, 1/shape) * float64(median)
	return max(time.Second, time.Duration(min(x, math.MaxInt64/4)).Round(time.Microsecond))
}

// plan queues the events before the end of the next window: peers that come and go, other events of the script,
// and queries.
func (s *Sim) plan(begin time.Duration) {
	until := begin + 2*s.cfg.Least
	c := &s.churn
	for ; len(c.moves) > 0 && c.moves[0].At < until; c.moves = c.moves[1:] {
		m := c.moves[0]
		c.online[m.Peer] = m.Online
		k := leave
		switch {
		case m.Online:
			k = join
		case m.Killed:
			k = killed
		}
		s.push(&event{at: m.At, to: m.Peer, kind: k})
	}
	s.stage(until)
	for asks := s.cfg.Script.Asks; s.asked < len(asks) && asks[s.asked].At < until; s.asked++ {
		if q := asks[s.asked]; c.online[q.Peer] && !s.held.Holds(q.Peer, q.Key) {
			id := s.tally.add(q.Peer, q.At, q.Key, s.findable(q.Peer, q.Key))
			s.push(&event{at: q.At, to: q.Peer, kind: start, msg: strategy.Message{Query: id}})
		}
	}
}

// findable returns the number of other peers online that hold a key.
func (s *Sim) findable(asker strategy.ID, key uint32) int {
	n := 0
	for _, p := range s.held.Holders(key) {
		if p != asker && s.churn.online[p] {
			n++
		}
	}
	return n
}

// query returns a peer's view of a query.
func (s *Sim) query(id strategy.QueryID) strategy.Query {
	q := &s.tally.queries[id-1]
	return strategy.Query{ID: id, Key: s.cfg.Data.Key(q.key), All: s.cfg.All, Deadline: q.start + s.cfg.Patience}
}
