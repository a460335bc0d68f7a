package sim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// churn is who comes and goes when.
type churn struct {
	online []bool
	moves  []move            // to come, by time
	ends   [][]time.Duration // of every peer's sessions
}

// leaves is when the session ends that a peer begins at an instant.
func (c *churn) leaves(p strategy.ID, from time.Duration) time.Duration {
	for _, end := range c.ends[p] {
		if end > from {
			return end
		}
	}
	return always
}

// settle notes when sessions end. The moves stay as they are from now on.
func (c *churn) settle() {
	c.ends = make([][]time.Duration, len(c.online))
	for _, m := range c.moves {
		if !m.online {
			c.ends[m.peer] = append(c.ends[m.peer], m.at)
		}
	}
}

type move struct {
	at     time.Duration
	peer   strategy.ID
	online bool
	killed bool
}

// newChurn draws the sessions and absences of all peers. Each began long before the run, so that at its start as many
// are there as at any other time.
func newChurn(cfg *Config) churn {
	c := churn{online: make([]bool, cfg.Data.Peers())}
	rng := cfg.random(churning)
	for _, m := range cfg.Script.Moves {
		c.moves = append(c.moves, move{m.At, m.Peer, m.Online, m.Killed})
	}
	for i := range c.online {
		c.online[i] = true
		if cfg.Churn.Median > 0 {
			c.history(cfg.Churn, cfg.end(), strategy.ID(i), rng)
		}
	}
	slices.SortStableFunc(c.moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.peer, b.peer))
	})
	c.begin()
	return c
}

// begin applies the moves until the start, and leaves out those that change nothing.
func (c *churn) begin() {
	now := slices.Clone(c.online)
	all := c.moves
	c.moves = nil
	for _, m := range all {
		switch {
		case now[m.peer] == m.online:
		case m.at <= 0:
			now[m.peer], c.online[m.peer] = m.online, m.online
		default:
			now[m.peer] = m.online
			c.moves = append(c.moves, m)
		}
	}
}

// longAgo is how many medians before the run a peer's history begins.
const longAgo = 50

func (c *churn) history(of Churn, end time.Duration, p strategy.ID, rng *rand.Rand) {
	before := longAgo * (of.Median + of.Away)
	on := true
	for at := -before - time.Duration(rng.Float64()*float64(before)); ; on = !on {
		median := of.Median
		if !on {
			median = of.Away
		}
		if at += weibull(median, of.Shape, rng); at >= end {
			return
		}
		if at <= 0 {
			c.online[p] = !on
			continue
		}
		c.moves = append(c.moves, move{at, p, !on, false})
	}
}

// Moves draws who comes and goes until an end, in order of time; those at 0 say who is away at the start.
func (of Churn) Moves(peers int, end time.Duration, rng *rand.Rand) []Move {
	var out []Move
	if of.Median == 0 {
		return nil
	}
	setDefault(&of.Shape, 0.5)
	setDefault(&of.Away, of.Median/10)
	c := churn{online: make([]bool, peers)}
	for i := range c.online {
		c.online[i] = true
		if c.history(of, end, strategy.ID(i), rng); !c.online[i] {
			out = append(out, Move{Peer: strategy.ID(i)})
		}
	}
	slices.SortStableFunc(c.moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	for _, m := range c.moves {
		out = append(out, Move{At: m.at, Peer: m.peer, Online: m.online})
	}
	return out
}

// weibull draws from the Weibull distribution of a median and a shape; at least a second. Functions of package math may
// differ in the last bit between machines: whole microseconds do not.
func weibull(median time.Duration, shape float64, rng *rand.Rand) time.Duration {
	x := math.Pow(-math.Log(1-float64(rng.Float64()))/math.Ln2, 1/shape) * float64(median)
	return max(time.Second, time.Duration(min(x, math.MaxInt64/4)).Round(time.Microsecond))
}

// plan plans what comes before the end of the next window: who comes and goes, and which queries begin.
func (s *Sim) plan(begin time.Duration) {
	until := begin + 2*s.cfg.Least
	c := &s.churn
	for len(c.moves) > 0 && c.moves[0].at < until {
		m := c.moves[0]
		c.moves = c.moves[1:]
		c.online[m.peer] = m.online
		k := leave
		switch {
		case m.online:
			k = join
		case m.killed:
			k = killed
		}
		s.push(event{at: m.at, to: m.peer, kind: k})
	}
	s.stage(until)
	for s.asker.due() < until {
		s.ask()
	}
}
