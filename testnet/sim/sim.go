package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"time"

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
	place   [][2]float32 // in a square of side 1
	queue   *queue
	trace   *tracer
	churn   churn
	asker   asker
	held    *Held // changed between windows only
	staged  staged
	tally   tally
	groups  []group // of the window that is run
	counts  []int32 // of each peer's events, while they are grouped; then 0
	busy    []strategy.ID
	sorted  []event // those of the window, by peer
	edges   [][2]strategy.ID
	parts   int // into which the topology falls
	rules   links.Rules
}

// group is a node's events in a window.
type group struct {
	node    *node
	events  []event
	out     []event
	records []byte // of out, for the trace
	fault   error  // that ended it
}

// ErrStopped is returned by Run when Config.Progress stopped it.
var ErrStopped = errors.New("sim: stopped")

// ErrPanic is matched by the error of a run in which a strategy panicked. The error says where.
var ErrPanic = errors.New("sim: panic")

// New prepares a run. It returns every fault of the configuration, joined; they match [ErrConfig].
func New(cfg Config) (*Sim, error) {
	cfg.defaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.Topology.defaults()
	s := &Sim{cfg: cfg, end: cfg.end(), queue: newQueue(cfg.Least), trace: newTracer(cfg.Trace), held: NewHeld(cfg.Data)}
	s.rules = links.Of(&cfg.Strategy, cfg.Topology.Degree)
	s.makeNodes()
	s.world = strategy.World{
		Peers: len(s.nodes), Seed: cfg.Seed, Params: cfg.Params, Notes: cfg.Notes,
		Rates:      s.declared,
		Collection: s.held.Fingerprints,
		Holders:    func(k strategy.Key) []strategy.ID { return s.held.Holders(k.Number) },
		Online:     func(p strategy.ID) bool { return s.churn.online[p] },
		Latency:    s.latency,
	}
	var err error
	if s.factory, err = cfg.Strategy.Open(s.world); err != nil {
		return nil, fmt.Errorf("%w: strategy %s: %w", ErrConfig, cfg.Strategy.Name, err)
	}
	s.asker = newAsker(&s.cfg, s.held)
	s.tally = tally{sim: s, upkeep: make([]int64, len(s.nodes)), load: make([]int32, len(s.nodes))}
	s.churn = newChurn(&s.cfg)
	if cfg.Detail {
		s.tally.watch = &watch{sim: s, kinds: map[reflect.Type]*Sent{}}
	}
	s.wire()
	return s, nil
}

func (s *Sim) makeNodes() {
	n := s.cfg.Data.Peers()
	s.nodes, s.place, s.counts = make([]node, n), make([][2]float32, n), make([]int32, n)
	places, lines := s.cfg.random(placing), s.cfg.Lines.Assign(n, s.cfg.random(lining))
	for i := range s.nodes {
		rate := s.cfg.Lines[lines[i]].Rate
		up, down := rate, rate
		if s.cfg.Rates != nil {
			up, down = s.cfg.Rates(strategy.ID(i))
		}
		s.nodes[i] = node{
			sim: s, id: strategy.ID(i), up: float64(up) / 8, down: float64(down) / 8, wakeAt: never, wakeSet: never,
			rng: s.cfg.random(peering + purpose(2*i)), own: s.cfg.random(peering + purpose(2*i+1)),
		}
		s.place[i] = [2]float32{places.Float32(), places.Float32()}
	}
}

// declared are the rates of a peer's line at the start.
func (s *Sim) declared(p strategy.ID) (up, down uint64) {
	if s.cfg.Rates != nil {
		return s.cfg.Rates(p)
	}
	return uint64(8 * s.nodes[p].up), uint64(8 * s.nodes[p].down)
}

// latency is that of a message between two peers, one way: whole microseconds, which are the same on all machines.
func (s *Sim) latency(a, b strategy.ID) time.Duration {
	if int(max(a, b)) >= len(s.nodes) {
		return s.cfg.Least
	}
	if s.cfg.Latency != nil {
		return max(s.cfg.Least, s.cfg.Latency(a, b))
	}
	p, q := s.place[a], s.place[b]
	far := math.Hypot(float64(p[0]-q[0]), float64(p[1]-q[1])) / math.Sqrt2
	return s.cfg.Least + time.Duration(far*float64(s.cfg.Most-s.cfg.Least)).Round(time.Microsecond)
}

// wire draws the topology.
func (s *Sim) wire() {
	topology := s.cfg.Topology
	topology.Degree = s.rules.Degree
	s.edges = topology.Edges(len(s.nodes), s.cfg.random(linking))
	s.parts = Components(len(s.nodes), s.edges)
}

// begin plans what happens at the start. Everybody who is there joins, and the links of the topology open, or others
// where it leads to peers that are away.
func (s *Sim) begin() {
	s.churn.settle()
	for i, on := range s.churn.online {
		if on {
			s.queue.push(event{to: strategy.ID(i), kind: join})
		}
	}
	const life = 1
	stays := func(p strategy.ID) bool { return s.churn.online[p] && s.churn.leaves(p, 0) > s.cfg.Least }
	for _, e := range s.rules.Start(s.edges, len(s.nodes), stays, s.cfg.random(rewiring)) {
		a, b := e[0], e[1]
		s.queue.push(event{at: s.cfg.Least, to: a, from: b, toLife: life, fromLife: life, kind: accepted})
		s.queue.push(event{at: s.cfg.Least, to: b, from: a, toLife: life, fromLife: life, kind: linked})
		s.tally.connected(a, b, 0)
	}
	s.edges = nil
}

// Components is into how many parts the topology falls: 1 unless it is broken.
func (s *Sim) Components() int { return s.parts }

// Run runs to the end and reports. When Config.Progress stops it, it reports what is known by then, with ErrStopped;
// when Config.Trace fails, with that error. When the strategy panics, the error matches ErrPanic and there is no
// report.
func (s *Sim) Run() (*Report, error) {
	s.begin()
	told := time.Duration(0)
	for {
		begin, events := s.queue.next()
		if begin > s.end {
			break
		}
		s.plan(begin)
		if s.tally.watch != nil {
			s.tally.watch.window(begin)
		}
		if err := s.window(events, begin+s.cfg.Least); err != nil {
			return nil, err
		}
		s.queue.recycle(events)
		if s.cfg.Progress != nil && begin >= told {
			told = begin + time.Second
			if !s.cfg.Progress(begin, s.end) {
				return s.report(ErrStopped)
			}
		}
		if s.trace.err != nil {
			break
		}
	}
	return s.report(nil)
}

// window steps all peers with something to do before an instant, and merges what they did. Meanwhile the trace takes in
// what the window before has led to.
func (s *Sim) window(events []event, end time.Duration) error {
	n := s.group(events)
	s.cfg.Each(1+n, func(i int) {
		if i == 0 {
			s.trace.flush()
			return
		}
		s.groups[i-1].run(s, end)
	})
	for i := range s.groups[:n] {
		g := &s.groups[i]
		if g.fault != nil {
			return g.fault
		}
		s.trace.add(g.records)
		for k := range g.out {
			s.merge(g.node, &g.out[k])
		}
		clear(g.out)
		g.node, g.events = nil, nil
	}
	clear(s.sorted)
	return nil
}

// group gives every peer with events in a window its own, in order, and returns how many peers these are. The events
// have come in the order of their planning. They are counted by peer and moved to their places, and each peer's few are
// sorted.
func (s *Sim) group(events []event) int {
	busy := s.busy[:0]
	for i := range events {
		to := events[i].to
		if s.counts[to] == 0 {
			busy = append(busy, to)
		}
		s.counts[to]++
	}
	if many := len(s.counts) / 8; len(busy) > many {
		busy = busy[:0]
		for p, n := range s.counts {
			if n > 0 {
				busy = append(busy, strategy.ID(p))
			}
		}
	} else {
		slices.Sort(busy)
	}
	at := int32(0)
	for _, p := range busy {
		at, s.counts[p] = at+s.counts[p], at
	}
	s.sorted = slices.Grow(s.sorted[:0], len(events))[:len(events)]
	for i := range events {
		next := &s.counts[events[i].to]
		s.sorted[*next] = events[i]
		*next++
	}
	from := int32(0)
	for n, p := range busy {
		if n == len(s.groups) {
			s.groups = append(s.groups, group{})
		}
		part := s.sorted[from:s.counts[p]]
		sortEvents(part)
		s.groups[n].node, s.groups[n].events = &s.nodes[p], part
		from, s.counts[p] = s.counts[p], 0
	}
	s.busy = busy
	return len(busy)
}

// sortEvents sorts events by their time, and those of one time as they were planned. Few events are inserted one by
// one, without copying them to compare.
func sortEvents(events []event) {
	const few = 32
	if len(events) > few {
		slices.SortFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
		return
	}
	for i := 1; i < len(events); i++ {
		at := i
		for at > 0 && events[i].before(&events[at-1]) {
			at--
		}
		if at < i {
			e := events[i]
			copy(events[at+1:i+1], events[at:i])
			events[at] = e
		}
	}
}

// run steps the node, and notes where a panic came from.
func (g *group) run(s *Sim, end time.Duration) {
	defer func() {
		if p := recover(); p != nil {
			g.fault = fmt.Errorf("%w: strategy %s, seed %d, peer %d at %v: %v\n%s", ErrPanic, s.cfg.Strategy.Name, s.cfg.Seed, g.node.id,
				g.node.now, p, debug.Stack())
		}
	}()
	g.node.out = g.out[:0]
	g.node.run(g.events, end)
	g.out, g.node.out = g.node.out, nil
	g.records = g.records[:0]
	for i := range g.out {
		if e := &g.out[i]; e.kind != wake {
			g.records = recordOf(g.node.id, e).append(g.records)
		}
	}
}

// merge takes in what a peer did.
func (s *Sim) merge(n *node, e *event) {
	s.tally.take(n.id, e)
	if e.kind.queued() {
		s.queue.push(*e)
	}
}

// recordOf is the trace's record of what a peer did.
func recordOf(who strategy.ID, e *event) Record {
	other := e.to
	if other == who {
		other = e.from
	}
	return Record{At: e.at, Kind: uint8(e.kind), Peer: who, Other: other, Bytes: uint32(e.msg.Bytes), Query: e.msg.Query}
}

// bootstrap links a peer that comes to some that are there, as addresses kept from before would.
func (s *Sim) bootstrap(n *node) {
	for range s.rules.Coming() {
		s.linkAnywhere(n)
	}
}

// repair replaces a lost link where there are too few.
func (s *Sim) repair(n *node) {
	if s.rules.Missing(&n.links) > 0 {
		s.linkAnywhere(n)
	}
}

// linkAnywhere opens a link to a peer drawn at random.
func (s *Sim) linkAnywhere(n *node) {
	if p, ok := links.Draw(n.own, n.id, &s.world, n.linked); ok {
		n.Connect(p)
	}
}

func pick[T any](list []T, rng *rand.Rand) T { return list[rng.IntN(len(list))] }
