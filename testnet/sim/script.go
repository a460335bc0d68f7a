package sim

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Script has the planned events of a run. The zero value is none. Each list is in order of time.
type Script struct {
	Moves   []Move   // peers that come and go; a move at 0 or before sets who is away at the start
	Asks    []Ask    // the queries
	Changes []Change // of collections
	Cuts    []Cut
	Rates   []Rate
}

// Move is that a peer comes or goes. One that moves to where it is does nothing.
type Move struct {
	At     time.Duration
	Peer   strategy.ID
	Online bool
	Killed bool // it goes without a word, see [strategy.Leaving]
}

// Ask is a query of a peer for the key of that number. A peer that is away or holds the key asks nothing.
type Ask struct {
	At   time.Duration
	Peer strategy.ID
	Key  uint32
}

// Change adds a key of Config.Data to a peer's collection, or removes it. Its strategy learns of it by
// [strategy.Changed].
type Change struct {
	At   time.Duration
	Peer strategy.ID
	Key  uint32
	Held bool
}

// Cut is a partition: from an instant to another, nothing passes between peers of different sides. Connections across
// are reset when it begins. When it ends, peers that had opened links of the topology open the ones that it cut again.
type Cut struct {
	From, To time.Duration // To 0: it lasts
	Side     []uint8       // of each peer
}

// Rate gives a peer's line other rates, in bit/s. What the peer declares stays as it was.
type Rate struct {
	At       time.Duration
	Peer     strategy.ID
	Up, Down uint64
}

// parts reports whether the cut is between two peers at an instant.
func (c *Cut) parts(now time.Duration, a, b strategy.ID) bool {
	return now >= c.From && (c.To == 0 || now < c.To) && c.Side[a] != c.Side[b]
}

// cut reports whether a partition is between two peers.
func (s *Sim) cut(now time.Duration, a, b strategy.ID) bool {
	for i := range s.cfg.Script.Cuts {
		if s.cfg.Script.Cuts[i].parts(now, a, b) {
			return true
		}
	}
	return false
}

// beyond reports whether nothing that a peer sends reaches another: a partition is between them, or there is no such
// peer.
func (s *Sim) beyond(now time.Duration, a, b strategy.ID) bool {
	return int(b) >= len(s.nodes) || s.cut(now, a, b)
}

// staged counts the planned part of the script.
type staged struct {
	changes, rates int
	begun, healed  int              // cuts: begun in the order of the script, healed likewise
	severed        [][2]strategy.ID // links of the topology that cuts have closed, opener first
}

// stage plans the script's events before an instant.
func (s *Sim) stage(until time.Duration) {
	script, done := &s.cfg.Script, &s.staged
	for ; done.changes < len(script.Changes) && script.Changes[done.changes].At < until; done.changes++ {
		c := script.Changes[done.changes]
		if !s.held.Change(c) {
			continue
		}
		s.push(&event{at: c.At, to: c.Peer, kind: changed, msg: strategy.Message{Body: strategy.Changed{Key: s.cfg.Data.Key(c.Key), Held: c.Held}}})
	}
	for ; done.rates < len(script.Rates) && script.Rates[done.rates].At < until; done.rates++ {
		r := script.Rates[done.rates]
		s.nodes[r.Peer].up.rate, s.nodes[r.Peer].down.rate = float64(r.Up)/8, float64(r.Down)/8
	}
	for ; done.begun < len(script.Cuts) && script.Cuts[done.begun].From < until; done.begun++ {
		s.sever(&script.Cuts[done.begun])
	}
	for ; done.healed < done.begun && script.Cuts[done.healed].To != 0 && script.Cuts[done.healed].To < until; done.healed++ {
		s.rejoin(script.Cuts[done.healed].To)
	}
}

// sever closes all connections across a cut.
func (s *Sim) sever(c *Cut) {
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.peer == nil {
			continue
		}
		for k := range n.ends {
			e := &n.ends[k]
			if c.Side[i] == c.Side[e.peer] {
				continue
			}
			s.push(&event{at: c.From, to: n.id, from: e.peer, toLife: n.life, fromLife: e.life, kind: closed})
			if e.outbound && !s.cfg.Strategy.Connects {
				s.staged.severed = append(s.staged.severed, [2]strategy.ID{n.id, e.peer})
			}
		}
		for k := range n.recent {
			if r := &n.recent[k]; c.Side[i] != c.Side[r.peer] {
				s.push(&event{at: c.From, to: n.id, from: r.peer, toLife: n.life, fromLife: r.life, kind: closed})
			}
		}
	}
}

// rejoin opens the links again that a cut has closed.
func (s *Sim) rejoin(at time.Duration) {
	for _, l := range s.staged.severed {
		a, b := &s.nodes[l[0]], &s.nodes[l[1]]
		if a.peer == nil || b.peer == nil {
			continue
		}
		s.push(&event{at: at, to: a.id, from: b.id, toLife: a.life, fromLife: b.life, kind: accepted})
		s.push(&event{at: at, to: b.id, from: a.id, toLife: b.life, fromLife: a.life, kind: linked})
		s.tally.connected(a.id, b.id, at)
	}
	s.staged.severed = nil
}
