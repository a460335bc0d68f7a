package scenario

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/workload"
)

// Plan is a scenario with everything drawn from a seed. Both engines play it.
type Plan struct {
	*Scenario
	Trial  int    // number of the trial, from 0
	Seed   uint64 // seed of this trial
	Data   *sim.Data
	Names  []string // names of the peers
	Keys   [][]byte // keys by number; nobody holds the last ones at the start
	Class  []int    // class of line of each peer, as an index
	Script sim.Script

	Latency     func(a, b strategy.ID) time.Duration // one-way latency between two peers
	Edges       [][2]strategy.ID                     // links at the start; nil: they are drawn
	Adversaries []string                             // kind by peer; "" for a good one
	Invented    []strategy.Invented                  // identities that each adversary makes up, by peer
	Jumps       [][]Jump                             // jumps of clocks, by peer
	Older       []bool                               // peers of the version before

	least  time.Duration // least latency
	raised int           // number of latencies of a matrix that are below the least

	sorted  func() []uint32 // indexes of the keys, sorted by key
	extra   [][]byte        // end of Keys: keys that nobody holds at the start
	further int             // number of extra keys that no change of the plan adds
	peers   [][]sim.Session // when each peer is online
}

// Jump is a clock's jump: at At, it goes ahead by By.
type Jump struct{ At, By time.Duration }

// Network is the name of the network, under which testnets' nodes hash their keys, too.
const Network = "testnet"

// purpose names the use of a source of randomness. Only plans draw from these.
type purpose string

const (
	holding     purpose = "scenario: collections"
	lining      purpose = "scenario: lines"
	placing     purpose = "scenario: places"
	leaving     purpose = "scenario: sessions"
	changing    purpose = "scenario: changes"
	asking      purpose = "scenario: queries"
	misbehaving purpose = "scenario: adversaries"
	acting      purpose = "scenario: an adversary's acts"
	happening   purpose = "scenario: an event"
	crowding    purpose = "scenario: a crowd's queries"
)

func (p *Plan) random(of purpose, number int) *rand.Rand {
	return strategy.Random(p.Seed, string(of), uint64(number))
}

// Plan draws the plan of a trial, numbered from 0. Errors match ErrScenario, or come from reading the data.
func (s *Scenario) Plan(trial int) (*Plan, error) {
	p := &Plan{Scenario: s, Trial: trial, Seed: strategy.TrialSeed(s.Seed, trial)}
	err := p.hold()
	if err == nil {
		err = p.draw()
	}
	if err == nil && len(p.Script.Asks) == 0 {
		err = p.source.fault("queries", "nobody finds anything to ask for")
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// PlanOf draws the plan of the first trial of a scenario without a file, over data that has been read. It adds a number
// of further keys, which nobody holds. The plan may have no query. Zero values of the scenario do not mean defaults.
func (s *Scenario) PlanOf(d *workload.Data, further int) (*Plan, error) {
	p := &Plan{Scenario: s, Seed: strategy.TrialSeed(s.Seed, 0), further: further}
	err := p.take(d)
	if err == nil {
		err = p.hash()
	}
	if err == nil {
		err = p.draw()
	}
	return p, err
}

// draw draws all but the collections.
func (p *Plan) draw() error {
	n := p.Data.Peers()
	p.Class = p.mix().Assign(n, p.random(lining, 0))
	if p.Strong > 0 {
		for i := range p.Class { // the peers that strategies know as strong
			p.Class[i] = map[bool]int{true: 0, false: 1}[strategy.Drawn(p.Strong, p.Seed, strategy.ID(i))]
		}
	}
	var err error
	if p.Latency, err = p.latency(n); err != nil {
		return err
	}
	p.misbehave(n)
	if err := p.moves(n); err != nil {
		return err
	}
	if p.Edges, err = p.edges(); err != nil {
		return err
	}
	p.events(n)
	return p.play()
}

// mix returns a class for each line of the scenario, weighted by the line's share in thousandths, at least 1.
func (s *Scenario) mix() link.Mix {
	var mix link.Mix
	for _, l := range s.Lines {
		mix = append(mix, link.Class{Name: l.Name, Rate: uint64(min(l.Up, l.Down)), Weight: max(1, int(math.Round(l.Share*1000)))})
	}
	return mix
}

// Line returns the line of a peer.
func (p *Plan) Line(peer strategy.ID) Line { return p.Lines[p.Class[peer]] }

// Lookup returns the number of a key. It is safe for concurrent use.
func (p *Plan) Lookup(key []byte) (number uint32, known bool) {
	sorted := p.sorted()
	at, known := slices.BinarySearchFunc(sorted, key, func(n uint32, key []byte) int { return bytes.Compare(p.Keys[n], key) })
	if known {
		number = sorted[at]
	}
	return number, known
}

// hold makes or reads the collections.
func (p *Plan) hold() error {
	c, rng := p.Collections, p.random(holding, 0)
	if c.Data == Clusters {
		c.Peers = p.Peers
		d, err := sim.NewClusters(c.Clusters, rng)
		if err != nil {
			return p.source.fault("collections", "%w", err)
		}
		for k := range d.Keys() {
			p.Keys = append(p.Keys, madeUp(p.Seed, k))
		}
		for i := range d.Peers() {
			p.Names = append(p.Names, fmt.Sprintf("peer-%d", i))
		}
		p.Data = d
	} else {
		from := workload.Config{Peers: p.Peers, Chunk: uint64(c.Chunk), Rand: rng}
		if c.Data != Debian {
			from.Path = p.Path(c.Data)
		}
		d, err := workload.Load(from)
		if err != nil {
			return p.source.fault("collections.data", "%w", err)
		}
		if err := p.take(d); err != nil {
			return err
		}
	}
	return p.hash()
}

// take sets the plan's keys, names and collections from data.
func (p *Plan) take(d *workload.Data) (err error) {
	for k := range d.Keys() {
		p.Keys = append(p.Keys, d.Key(uint32(k)))
	}
	p.Names = d.Peers()
	if p.Data, err = sim.NewData(make([]summary.Fingerprint, d.Keys()), d.Collections()); err != nil {
		return p.source.fault("collections.data", "%w", err)
	}
	return nil
}

// hash makes enough new keys for all changes, and hashes all keys.
func (p *Plan) hash() error {
	if n := p.Data.Peers(); n < 2 || n > sim.MaxPeers {
		return p.source.fault("collections.data", "%d peers, want 2 to %d", n, sim.MaxPeers)
	}
	held := len(p.Keys)
	if n := p.changes(); n > maxChanges {
		return p.source.fault("changes.share", "%.0f changes of collections, at most %d", n, maxChanges)
	}
	for i := range p.newKeys() + p.further {
		p.Keys = append(p.Keys, madeUp(p.Seed, held+i))
	}
	p.extra = p.Keys[held:]
	h := summary.Seed{Network: Network}.Hasher()
	fps := make([]summary.Fingerprint, len(p.Keys))
	for k, key := range p.Keys {
		fps[k] = h.Fingerprint(key)
	}
	p.Data = p.Data.Under(fps)
	p.sorted = sync.OnceValue(func() []uint32 {
		sorted := make([]uint32, len(p.Keys))
		for k := range sorted {
			sorted[k] = uint32(k)
		}
		slices.SortFunc(sorted, func(a, b uint32) int { return bytes.Compare(p.Keys[a], p.Keys[b]) })
		return sorted
	})
	return nil
}

// Held returns the number of keys that somebody holds at the start: the first ones.
func (p *Plan) Held() int { return len(p.Keys) - len(p.extra) }

// changes returns an upper estimate of the number of keys that peers replace.
func (p *Plan) changes() float64 {
	return p.Changes.Share * float64(p.Data.Holdings()) * p.End().Minutes()
}

// newKeys returns the largest number of keys, held by nobody at the start, that changes add.
func (p *Plan) newKeys() int {
	minutes := p.End().Minutes()
	return int(p.Changes.Share * p.Changes.New * float64(p.Data.Holdings()) * minutes * 1.2)
}

// madeUp returns a key of 32 bytes.
func madeUp(seed uint64, number int) []byte {
	b := binary.BigEndian.AppendUint64([]byte("scenario key "), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(number)))
	return sum[:]
}

// misbehave draws the adversaries.
func (p *Plan) misbehave(n int) {
	p.Adversaries, p.Invented = make([]string, n), make([]strategy.Invented, n)
	order := p.random(misbehaving, 0).Perm(n)
	first := strategy.ID(n)
	for _, a := range p.Scenario.Adversaries {
		for range min(a.Number, len(order)-1) {
			p.Adversaries[order[0]] = a.Kind
			if share := (a.Identities + a.Number - 1) / a.Number; share > 0 {
				p.Invented[order[0]] = strategy.Invented{First: first, Number: share}
				first += strategy.ID(share)
			}
			order = order[1:]
		}
	}
}

// chosen draws a share of the peers of a class of lines; "" stands for all classes.
func (p *Plan) chosen(share float64, class string, rng *rand.Rand) []strategy.ID {
	var of []strategy.ID
	for i := range p.Class {
		if id := strategy.ID(i); class == "" || p.Line(id).Name == class {
			of = append(of, id)
		}
	}
	rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	of = of[:int(math.Round(share*float64(len(of))))]
	slices.Sort(of)
	return of
}

// moves draws sessions and absences, or reads them.
func (p *Plan) moves(n int) error {
	if p.Sessions.Log != "" {
		return p.sessions()
	}
	churn := sim.Churn{Median: time.Duration(p.Sessions.Median), Away: time.Duration(p.Sessions.Away), Shape: p.Sessions.Shape}
	p.peers = churn.Sessions(n, p.End(), p.random(leaving, 0))
	return nil
}

// kill takes a peer offline from one time to another.
func (p *Plan) kill(peer strategy.ID, from, to time.Duration) {
	var left []sim.Session
	for _, s := range p.peers[peer] {
		if s.From < from {
			left = append(left, sim.Session{From: s.From, To: min(s.To, from), Killed: s.Killed || s.To > from})
		}
		if s.To > to {
			left = append(left, sim.Session{From: max(s.From, to), To: s.To, Killed: s.Killed})
		}
	}
	p.peers[peer] = left
}

// events draws the peers of the scenario's events, and what the events do to them.
func (p *Plan) events(n int) {
	p.Jumps, p.Older = make([][]Jump, n), make([]bool, n)
	for i, e := range p.Events {
		at, rng := time.Duration(e.At), p.random(happening, i)
		switch e.Kind {
		case Kill:
			back := p.End() + 1
			if e.Back > 0 {
				back = at + time.Duration(e.Back)
			}
			for _, peer := range p.chosen(e.Share, e.Of, rng) {
				p.kill(peer, at, back)
			}
		case Join:
			for _, peer := range p.chosen(e.Share, e.Of, rng) {
				p.kill(peer, 0, at+time.Duration(rng.Float64()*float64(e.Over)))
			}
		case Partition:
			side := make([]uint8, n)
			for k, peer := range rng.Perm(n) {
				side[peer] = uint8(k % e.Parts)
			}
			p.Script.Cuts = append(p.Script.Cuts, sim.Cut{From: at, Side: side})
		case Heal:
			p.Script.Cuts[len(p.Script.Cuts)-1].To = at
		case Slow:
			for _, peer := range p.chosen(e.Share, e.Of, rng) {
				p.slow(peer, e)
			}
		case Clock:
			for _, peer := range p.chosen(e.Share, e.Of, rng) {
				p.Jumps[peer] = append(p.Jumps[peer], Jump{at, time.Duration(e.By)})
			}
		case Older:
			for _, peer := range p.chosen(e.Share, e.Of, rng) {
				p.Older[peer] = true
			}
		}
	}
	slices.SortStableFunc(p.Script.Rates, func(a, b sim.Rate) int { return cmp.Compare(a.At, b.At) })
	p.Script.Moves = sim.Moves(p.peers, p.End())
}

// slow changes the rates of a peer's line from e.At on, and restores them after e.Lasts if that is set.
func (p *Plan) slow(peer strategy.ID, e Event) {
	was := p.Line(peer)
	now := was
	if e.Up > 0 {
		now.Up = e.Up
	}
	if e.Down > 0 {
		now.Down = e.Down
	}
	p.Script.Rates = append(p.Script.Rates, sim.Rate{At: time.Duration(e.At), Peer: peer, Up: uint64(now.Up), Down: uint64(now.Down)})
	if e.Lasts > 0 {
		p.Script.Rates = append(p.Script.Rates, sim.Rate{At: time.Duration(e.At + e.Lasts), Peer: peer, Up: uint64(was.Up), Down: uint64(was.Down)})
	}
}
