package sim

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Script has the planned events of a run, each list in order of time. The zero value plans none.
type Script struct {
	Moves   []Move   // peers that come and go; moves up to time 0 set which peers are away at the start
	Asks    []Ask    // queries
	Changes []Change // changes of collections
	Cuts    []Cut
	Rates   []Rate
}

// Move brings a peer online or offline. If the peer is there already, or away already, the move is ignored.
type Move struct {
	At     time.Duration
	Peer   strategy.ID
	Online bool
	Killed bool // it goes without a goodbye, see [strategy.Leaving]
}

// Ask is a query of a peer for the key with number Key. It is left out if the peer is away or holds the key.
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

// Cut is a partition: from From to To, nothing passes between peers of different sides. The connections between
// sides are closed when it begins. Links of the topology among them open again when it ends.
type Cut struct {
	From, To time.Duration // To 0: until the end of the run
	Side     []uint8       // each peer's side, by number
}

// Rate sets the rates of a peer's line, in bit/s. The rates that the peer declares do not change.
type Rate struct {
	At       time.Duration
	Peer     strategy.ID
	Up, Down uint64
}

// separates reports whether the cut separates two peers at an instant.
func (c *Cut) separates(now time.Duration, a, b strategy.ID) bool {
	return now >= c.From && (c.To == 0 || now < c.To) && c.Side[a] != c.Side[b]
}

// cut reports whether any partition separates two peers now.
func (s *Sim) cut(now time.Duration, a, b strategy.ID) bool {
	for i := range s.cfg.Script.Cuts {
		if s.cfg.Script.Cuts[i].separates(now, a, b) {
			return true
		}
	}
	return false
}

// beyond reports whether peer a cannot reach b: a partition separates them, or there is no such peer.
func (s *Sim) beyond(now time.Duration, a, b strategy.ID) bool {
	return int(b) >= len(s.nodes) || s.cut(now, a, b)
}

// staged counts the events of the script that were applied or queued.
type staged struct {
	changes, rates int
	begun, healed  int              // number of cuts that were begun, and healed, in the order of the script
	severed        [][2]strategy.ID // links of the topology that the cuts closed, opener first
}

// stage applies or queues the changes, rates and cuts of the script before an instant.
func (s *Sim) stage(until time.Duration) {
	script, done := &s.cfg.Script, &s.staged
	for ; done.changes < len(script.Changes) && script.Changes[done.changes].At < until; done.changes++ {
		c := script.Changes[done.changes]
		if !s.held.Change(c.Peer, c.Key, c.Held) {
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

// rejoin opens the links of the topology that cuts closed, where both peers are online.
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
