package scenario

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// act is a draw that waits for its time, because it depends on the peers that are online then and on their keys.
type act struct {
	at time.Duration
	do func(at time.Duration)
}

// stage is the state of the network at the time up to which the plan is drawn.
type stage struct {
	*Plan
	online []bool
	held   *holdings.Now[strategy.ID]
	new    uint32 // next key that nobody holds
	drawer holdings.Drawer[strategy.ID]
}

// play draws queries and changes in order of time.
func (p *Plan) play() error {
	n := p.Data.Peers()
	s := &stage{Plan: p, online: make([]bool, n), held: holdings.NewNow(p.Data.Table), new: uint32(p.Held())}
	for i := range s.online {
		s.online[i] = true
	}
	s.drawer = holdings.Drawer[strategy.ID]{Rule: p.Queries.Rule, Exponent: p.Queries.Zipf, Outside: p.Queries.Outside, Held: s.held, Alike: p.Data.Alike}
	var acts []act
	for _, m := range p.Script.Moves {
		acts = append(acts, act{m.At, func(time.Duration) { s.online[m.Peer] = m.Online }})
	}
	acts = append(acts, s.changing()...)
	more, err := s.asking()
	if err != nil {
		return err
	}
	acts = append(acts, more...)
	for i, e := range p.Events {
		if e.Kind == Crowd {
			acts = append(acts, s.crowd(e, p.random(crowding, i))...)
		}
	}
	slices.SortStableFunc(acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	for _, a := range acts {
		a.do(a.at)
	}
	return nil
}

// changing returns the changes of collections, each peer's evenly spread from the first query on.
func (s *stage) changing() (acts []act) {
	if s.Changes.Share == 0 {
		return nil
	}
	rng := s.random(changing, 0)
	for i := range s.online {
		every := time.Duration(float64(time.Minute) / (s.Changes.Share * float64(len(s.Data.Collection(strategy.ID(i))))))
		for at := time.Duration(s.Warmup) + time.Duration(rng.Float64()*float64(every)); at < s.End(); at += max(time.Millisecond, every) {
			acts = append(acts, act{at, func(at time.Duration) { s.exchange(at, strategy.ID(i), rng) }})
		}
	}
	return acts
}

// exchange has a peer drop a key and add another.
func (s *stage) exchange(at time.Duration, p strategy.ID, rng *rand.Rand) {
	own := s.held.Collection(p)
	if !s.online[p] || len(own) < 2 {
		return
	}
	s.change(sim.Change{At: at, Peer: p, Key: own[rng.IntN(len(own))]})
	if rng.Float64() < s.Changes.New && int(s.new) < len(s.Keys) {
		s.change(sim.Change{At: at, Peer: p, Key: s.new, Held: true})
		s.new++
		return
	}
	for range 50 { // a peer that holds nearly all keys adds fewer
		of := s.held.Collection(strategy.ID(rng.IntN(len(s.online))))
		if k := of[rng.IntN(len(of))]; !s.held.Holds(p, k) {
			s.change(sim.Change{At: at, Peer: p, Key: k, Held: true})
			return
		}
	}
}

func (s *stage) change(c sim.Change) {
	if s.held.Change(c.Peer, c.Key, c.Held) {
		s.Script.Changes = append(s.Script.Changes, c)
	}
}

// asking returns the queries: read from a log, or drawn by the rule, evenly spread.
func (s *stage) asking() (acts []act, err error) {
	if s.Queries.Log != "" {
		return s.log(s.Queries.Log)
	}
	rng := s.random(asking, 0)
	for i := range s.Queries.Number {
		at := time.Duration(s.Warmup) + time.Duration(float64(s.Asking)*float64(i)/float64(s.Queries.Number))
		acts = append(acts, act{at, func(at time.Duration) { s.draw(at, rng) }})
	}
	return acts, nil
}

func (s *stage) draw(at time.Duration, rng *rand.Rand) {
	if p, k, drawn := s.drawer.Query(int(s.new), rng, s.good, s.good); drawn {
		s.Script.Asks = append(s.Script.Asks, sim.Ask{At: at, Peer: p, Key: k})
	}
}

// good reports whether a peer is online and does not misbehave. Only good peers ask queries, and count as holders of
// their keys.
func (s *stage) good(p strategy.ID) bool { return s.online[p] && s.Adversaries[p] == "" }

func (s *stage) mayAsk(p strategy.ID, key uint32) bool { return s.good(p) && !s.held.Holds(p, key) }

func (s *stage) findable(key uint32) bool { return slices.ContainsFunc(s.held.Holders(key), s.good) }

// crowd returns the queries of a crowd for one key, which is drawn when the first begins.
func (s *stage) crowd(e Event, rng *rand.Rand) (acts []act) {
	key := -1
	for i := range e.Queries {
		at := time.Duration(e.At) + time.Duration(float64(e.Over)*float64(i)/float64(e.Queries))
		acts = append(acts, act{at, func(at time.Duration) {
			const tries = 200
			for range tries {
				p := strategy.ID(rng.IntN(len(s.online)))
				if key < 0 {
					if k := s.drawer.Key(p, int(s.new), rng); s.findable(k) {
						key = int(k)
					}
				}
				if key >= 0 && s.mayAsk(p, uint32(key)) && s.findable(uint32(key)) {
					s.Script.Asks = append(s.Script.Asks, sim.Ask{At: at, Peer: p, Key: uint32(key)})
					return
				}
			}
		}})
	}
	return acts
}

// log reads queries from a table of seconds, peer and key, see keyNamed.
func (s *stage) log(path string) (acts []act, err error) {
	end := s.End()
	if s.Queries.Untimed {
		end = math.MaxInt64
	}
	err = s.table("queries.log", path, 3, func(cells []string) error {
		seconds, err := strconv.ParseFloat(cells[0], 64)
		if err != nil || !(seconds >= 0 && seconds <= end.Seconds()) {
			return fmt.Errorf("%q is no time from 0 to %v seconds", cells[0], end.Seconds())
		}
		asker, known := s.peerNamed(cells[1])
		if !known {
			return fmt.Errorf("there is no peer %q", cells[1])
		}
		key, known := s.keyNamed(cells[2])
		if !known {
			return fmt.Errorf("there is no key %q", cells[2])
		}
		at := time.Duration(s.Warmup)
		if !s.Queries.Untimed {
			at = time.Duration(seconds * float64(time.Second))
		}
		acts = append(acts, act{at, func(at time.Duration) {
			if s.mayAsk(asker, key) {
				s.Script.Asks = append(s.Script.Asks, sim.Ask{At: at, Peer: asker, Key: key})
			}
		}})
		return nil
	})
	return acts, err
}
