package scenario

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// act is something that is drawn when its time has come, for it depends on who is there and who holds what.
type act struct {
	at time.Duration
	do func(at time.Duration)
}

// stage is what a plan is drawn from as its time goes on.
type stage struct {
	*Plan
	online []bool
	held   *sim.Held
	new    uint32 // next key that nobody holds
	ranked []uint32
	sums   []int // of the collections' sizes, up to each peer
}

// play draws queries and changes in order of time.
func (p *Plan) play() error {
	n := p.Data.Peers()
	s := &stage{Plan: p, online: make([]bool, n), held: sim.NewHeld(p.Data), new: uint32(len(p.Keys) - len(p.extra))}
	for i := range s.online {
		s.online[i] = true
	}
	s.rank()
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
			acts = append(acts, s.crowd(e, p.random(happening+purpose(2*i+1)))...)
		}
	}
	slices.SortStableFunc(acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	for _, a := range acts {
		a.do(a.at)
	}
	if len(p.Script.Asks) == 0 {
		return p.source.fault("queries", "nobody finds anything to ask for")
	}
	return nil
}

// rank prepares the drawing by popularity.
func (s *stage) rank() {
	sum := 0
	for p := range s.online {
		sum += len(s.Data.Collection(strategy.ID(p)))
		s.sums = append(s.sums, sum)
	}
	for k := range len(s.Keys) - len(s.extra) {
		s.ranked = append(s.ranked, uint32(k))
	}
	slices.SortStableFunc(s.ranked, func(a, b uint32) int { return cmp.Compare(len(s.Data.Holders(b)), len(s.Data.Holders(a))) })
}

// changing are the changes of collections, each peer's evenly spread from the first query on.
func (s *stage) changing() (acts []act) {
	if s.Changes.Share == 0 {
		return nil
	}
	rng := s.random(changing)
	for i := range s.online {
		every := time.Duration(float64(time.Minute) / (s.Changes.Share * float64(len(s.Data.Collection(strategy.ID(i))))))
		for at := time.Duration(s.Warmup) + time.Duration(rng.Float64()*float64(every)); at < s.End(); at += max(time.Millisecond, every) {
			acts = append(acts, act{at, func(at time.Duration) { s.exchange(at, strategy.ID(i), rng) }})
		}
	}
	return acts
}

// exchange has a peer drop a key and take in another.
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
	for range 50 { // who holds nearly everything takes in less
		of := s.held.Collection(strategy.ID(rng.IntN(len(s.online))))
		if k := of[rng.IntN(len(of))]; !s.held.Holds(p, k) {
			s.change(sim.Change{At: at, Peer: p, Key: k, Held: true})
			return
		}
	}
}

func (s *stage) change(c sim.Change) {
	if s.held.Change(c) {
		s.Script.Changes = append(s.Script.Changes, c)
	}
}

// asking are the queries: those of a log, or drawn by the rule, evenly spread.
func (s *stage) asking() (acts []act, err error) {
	if s.Queries.Log != "" {
		return s.log(s.Queries.Log)
	}
	rng := s.random(asking)
	for i := range s.Queries.Number {
		at := time.Duration(s.Warmup) + time.Duration(float64(s.Asking)*float64(i)/float64(s.Queries.Number))
		acts = append(acts, act{at, func(at time.Duration) { s.draw(at, rng) }})
	}
	return acts, nil
}

// tries is how often a query is drawn until it is one: by a peer that is there, for a key that it lacks and another has.
const tries = 200

func (s *stage) draw(at time.Duration, rng *rand.Rand) {
	for range tries {
		p := strategy.ID(rng.IntN(len(s.online)))
		k := s.key(p, rng)
		if s.mayAsk(p, k) && s.findable(k) {
			s.Script.Asks = append(s.Script.Asks, sim.Ask{At: at, Peer: p, Key: k})
			return
		}
	}
}

func (s *stage) mayAsk(p strategy.ID, key uint32) bool {
	return s.online[p] && s.Adversaries[p] == "" && !s.held.Holds(p, key)
}

// findable says whether a good peer that is there holds the key.
func (s *stage) findable(key uint32) bool {
	return slices.ContainsFunc(s.held.Holders(key), func(p strategy.ID) bool { return s.online[p] && s.Adversaries[p] == "" })
}

// key draws by the rule what a peer asks for.
func (s *stage) key(p strategy.ID, rng *rand.Rand) uint32 {
	switch s.Queries.Rule {
	case Uniform:
		return uint32(rng.IntN(int(s.new)))
	case Zipf:
		return s.ranked[rankOf(len(s.ranked), s.Queries.Zipf, rng)]
	case Interest:
		const same = 0.9
		if like := s.Data.Alike(p); len(like) > 1 && rng.Float64() < same {
			of := s.held.Collection(like[rng.IntN(len(like))])
			return of[rng.IntN(len(of))]
		}
	}
	at, _ := slices.BinarySearch(s.sums, 1+rng.IntN(s.sums[len(s.sums)-1]))
	of := s.held.Collection(strategy.ID(at))
	return of[rng.IntN(len(of))]
}

// rankOf draws a rank from 0 with probability proportional to 1/(rank+1)^s, by the inverse of the integral.
func rankOf(n int, s float64, rng *rand.Rand) int {
	u, e := rng.Float64(), 1-s
	x := math.Pow(float64(n)+1, u)
	if math.Abs(e) > 1e-9 {
		x = math.Pow(1+float64(u*(math.Pow(float64(n)+1, e)-1)), 1/e)
	}
	return min(max(int(x)-1, 0), n-1)
}

// crowd are many queries for one key, which is drawn when the first begins.
func (s *stage) crowd(e Event, rng *rand.Rand) (acts []act) {
	key := -1
	for i := range e.Queries {
		at := time.Duration(e.At) + time.Duration(float64(e.Over)*float64(i)/float64(e.Queries))
		acts = append(acts, act{at, func(at time.Duration) {
			for range tries {
				p := strategy.ID(rng.IntN(len(s.online)))
				if key < 0 {
					if k := s.key(p, rng); s.findable(k) {
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

// log reads queries from a table of seconds, peer and key. Peers are given by name or number, keys by number where they are made
// up, else as they are.
func (s *stage) log(path string) (acts []act, err error) {
	const key = "queries.log"
	f, err := s.open(path)
	if err != nil {
		return nil, s.source.fault(key, "%w", err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment, r.FieldsPerRecord = '#', 3
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return acts, nil
		}
		if err != nil {
			return nil, s.source.fault(key, "%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		seconds, err := strconv.ParseFloat(row[0], 64)
		if err != nil || !(seconds >= 0 && seconds <= s.End().Seconds()) {
			return nil, s.source.fault(key, "%s:%d: %q is no time from 0 to %v seconds", path, line, row[0], s.End().Seconds())
		}
		p := slices.Index(s.Names, row[1])
		if i, err := strconv.Atoi(row[1]); p < 0 && err == nil && i >= 0 && i < len(s.online) {
			p = i
		}
		if p < 0 {
			return nil, s.source.fault(key, "%s:%d: there is no peer %q", path, line, row[1])
		}
		k := slices.IndexFunc(s.Keys, func(b []byte) bool { return bytes.Equal(b, []byte(row[2])) })
		if i, err := strconv.Atoi(row[2]); k < 0 && s.Collections.Data == Clusters && err == nil && i >= 0 && i < len(s.Keys) {
			k = i
		}
		if k < 0 {
			return nil, s.source.fault(key, "%s:%d: there is no key %q", path, line, row[2])
		}
		acts = append(acts, act{time.Duration(seconds * float64(time.Second)), func(at time.Duration) {
			if s.mayAsk(strategy.ID(p), uint32(k)) {
				s.Script.Asks = append(s.Script.Asks, sim.Ask{At: at, Peer: strategy.ID(p), Key: uint32(k)})
			}
		}})
	}
}
