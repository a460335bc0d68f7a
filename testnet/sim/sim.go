package sim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

// Sim is a run. Make one with [New] and run it once.
type Sim struct {
	cfg     Config
	end     time.Duration
	factory strategy.Factory
	world   strategy.World
	nodes   []node
	queue   queue
	turns   []turn  // turns of the window, in the order of the peers' numbers
	sorted  []event // events of the window, by peer
	counts  []int32 // number of each peer's events, while group runs; else 0
	shares  [shares]share
	records []byte // records of the window, for the trace
	trace   tracer
	churn   churn
	asked   int                        // number of queries of the script that were queued or left out
	held    *holdings.Now[strategy.ID] // present collections; they change between windows only
	staged  staged
	tally   tally
	window  time.Duration // start of the current window
	// a window with at most this number of turns runs on one processor, because waking others takes longer
	few        int
	edges      [][2]strategy.ID
	components int // connected parts of the topology
	rules      links.Rules
}

// ErrStopped is returned by Run when Config.Progress stopped it.
var ErrStopped = errors.New("sim: stopped")

// ErrPanic is matched by the error of a run in which a strategy panicked. The error has the stack.
var ErrPanic = errors.New("sim: panic")

// New prepares a run. Its error matches [ErrConfig].
func New(cfg Config) (*Sim, error) {
	cfg.defaults()
	cfg.Topology = cfg.Topology.Defaults()
	s := &Sim{cfg: cfg, end: cfg.Warmup + cfg.Asking + cfg.Patience, trace: tracer{hash: sha256.New(), out: cfg.Trace}, held: holdings.NewNow(cfg.Data.Table), few: 16}
	s.rules = links.Of(&cfg.Strategy, cfg.Topology.Degree)
	s.makeNodes()
	s.world = strategy.World{
		Peers: len(s.nodes), Seed: cfg.Seed, Params: cfg.Params, Notes: cfg.Notes,
		Rates:      cfg.Rates,
		Collection: func(p strategy.ID) []summary.Fingerprint { return cfg.Data.Fingerprints(s.held.Collection(p)) },
		Holders:    func(k strategy.Key) []strategy.ID { return s.held.Holders(k.Number) },
		Online:     func(p strategy.ID) bool { return s.churn.online[p] },
		Latency:    s.latency,
	}
	var err error
	if s.factory, err = cfg.Strategy.Open(s.world); err != nil {
		return nil, fmt.Errorf("%w: strategy %s: %w", ErrConfig, cfg.Strategy.Name, err)
	}
	s.tally = newTally(s)
	s.churn = newChurn(len(s.nodes), cfg.Script.Moves)
	s.wire()
	return s, nil
}

func (s *Sim) makeNodes() {
	s.nodes = make([]node, s.cfg.Data.Peers())
	for i := range s.nodes {
		up, down := s.cfg.Rates(strategy.ID(i))
		s.nodes[i] = node{sim: s, id: strategy.ID(i), up: newLine(up), down: newLine(down), wakeAt: never, wakeSet: never}
		s.nodes[i].rng.begin(&s.cfg, stepping, strategy.ID(i))
		s.nodes[i].own.begin(&s.cfg, carrying, strategy.ID(i))
	}
	s.queue, s.counts = newQueue(s.cfg.Least), make([]int32, len(s.nodes))
}

// latency returns the one-way latency of a message between two peers, in whole microseconds, the same on all machines.
func (s *Sim) latency(a, b strategy.ID) time.Duration {
	if s.cfg.Latency == nil || int(max(a, b)) >= len(s.nodes) {
		return s.cfg.Least
	}
	return max(s.cfg.Least, s.cfg.Latency(a, b))
}

// wire draws the links of the topology, unless Config.Edges has them.
func (s *Sim) wire() {
	if s.edges = s.cfg.Edges; s.edges == nil {
		s.edges = s.cfg.Topology.For(s.rules).Edges(len(s.nodes), s.cfg.random(linking))
	}
	s.components = Components(len(s.nodes), s.edges)
}

// begin queues the events at the start. All peers online join, and the links of the topology open. Where a link
// leads to a peer that is away, the other peer may open a random one in its place.
func (s *Sim) begin() {
	s.churn.settle()
	for i, on := range s.churn.online {
		if on {
			s.push(&event{to: strategy.ID(i), kind: join})
		}
	}
	const life = 1
	stays := func(p strategy.ID) bool { return s.churn.online[p] && s.churn.leaves(p, 0) > s.cfg.Least }
	for _, e := range s.rules.Start(s.edges, len(s.nodes), stays, s.cfg.random(rewiring)) {
		a, b := e[0], e[1]
		s.push(&event{at: s.cfg.Least, to: a, from: b, toLife: life, fromLife: life, kind: accepted})
		s.push(&event{at: s.cfg.Least, to: b, from: a, toLife: life, fromLife: life, kind: linked})
		s.tally.connected(a, b, 0)
	}
	s.edges = nil
}

// Components returns the number of connected parts of the topology.
func (s *Sim) Components() int { return s.components }

// Run runs to the end and reports. If Config.Progress stops the run, Run returns the report so far with
// ErrStopped. If Config.Trace fails, it returns the report so far with that error. If the strategy panics, the
// error matches ErrPanic and there is no report.
func (s *Sim) Run() (*Report, error) {
	s.begin()
	told := time.Duration(0)
	for s.next(); s.window <= s.end && s.trace.err == nil; s.next() {
		s.plan(s.window)
		s.tally.watch.window(s.window, s.churn.online)
		if err := s.step(); err != nil {
			return nil, err
		}
		if s.cfg.Progress != nil && s.window >= told {
			told = s.window + time.Second
			if !s.cfg.Progress(s.window, s.end) {
				return s.report(ErrStopped)
			}
		}
	}
	return s.report(nil)
}

// next begins the next window.
func (s *Sim) next() {
	s.queue.now++
	s.window += s.cfg.Least
}

// push plans an event.
func (s *Sim) push(e *event) { s.queue.push(e) }

// bootstrap opens links from a peer that comes online to peers drawn at random, in place of addresses kept from
// before.
func (s *Sim) bootstrap(n *node) {
	for range s.rules.Coming() {
		s.linkAnywhere(n)
	}
}

// repair opens a link from a node that has fewer than the rules ask for.
func (s *Sim) repair(n *node) {
	if s.rules.Missing(&n.links) > 0 {
		s.linkAnywhere(n)
	}
}

// linkAnywhere opens a link to a peer drawn at random. In a star it draws from the first peers, at which all
// others begin.
func (s *Sim) linkAnywhere(n *node) {
	if t := s.cfg.Topology; t.Kind == Star {
		begin := s.world
		begin.Peers = min(t.Degree, s.world.Peers)
		if p, ok := links.Draw(&n.own.Rand, n.id, &begin, n.linked); ok {
			n.Connect(p)
		}
		return
	}
	if p, ok := links.Draw(&n.own.Rand, n.id, &s.world, n.linked); ok {
		n.Connect(p)
	}
}
