// Package venn is venn itself as a strategy: the cores that nodes run, in the simulator.
package venn

import (
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy is venn itself: the overlay and the query machine that nodes run, driven as package node drives them.
var Strategy = strategy.Strategy{
	Name:   "venn",
	Source: "venn's own cores, overlay.Overlay and routing.Router",
	Model: "two bootstrap links, then links as the overlay chooses, within the limits of nodes, and a pubsub mesh of 6 to 12 links. " +
		"Every message is as on the " +
		"wire, audits and pubsub's subscriptions and changes of its mesh among them. Pubsub has no other traffic of its own, as nothing " +
		"is published in its ordinary way. Signatures are not computed, but their bytes are sent. A peer publishes 0.5 s after it comes, under a " +
		"later number each time, and then after an hour, and each time after twice the time. Params.Upkeep bounds the summaries by the share of the line that they may use, " +
		"and once by a burst of 16 KiB. Params.BitsPerKey bounds them by their shape. Changes of its collection go out in tails, and after 2 minutes in " +
		"the next epoch. A peer that leaves says goodbye to its links, unless it is killed.",
	Parameters: []strategy.Parameter{strategy.Upkeep.By("a third of the line"), strategy.BitsPerKey.By("the default shape"), strategy.Budget.By("as package routing has it"), strategy.Origins.By("all that memory holds"), memory, deny},
	Connects:   true,
	Open:       open,
	Older: func(p strategy.Peer) strategy.Peer {
		p.(*node).older = true
		return p
	},
	Adversaries: adversaries,
}

// Undefended is venn with the defences of its cores switched off, to show the damage of each attack without them.
var Undefended = undefended()

func undefended() strategy.Strategy {
	s := Strategy
	s.Name = "venn-undefended"
	s.Source += ", without their defences"
	s.Open = func(w strategy.World) (strategy.Factory, error) {
		w.Params.Undefended = true
		return open(w)
	}
	return s
}

// memory bounds the bytes that a peer keeps of others, as strategy.Origins bounds the number of others.
var memory = strategy.Parameter{Name: "memory", Unit: "bytes that a peer may keep of what others hold", Default: "64 MiB", Low: 1, High: 1e12, Whole: true}

// deny is the share of peers that answer all searches of others with no names.
var deny = strategy.Parameter{Name: "deny", Unit: "share of peers that name nobody to those who ask them for holders", Default: "none", High: 1}

// run is the state that all of venn's peers of a run share: their summaries, which are the same wherever they are held.
type run struct {
	world   strategy.World
	seed    summary.Seed
	shape   func(n int) (summary.Shape, error)
	config  overlay.Config // common to all peers' overlays
	origins []origin
}

// sharedBytes is the size of the cache of decoded summaries. Peers share the summaries that they hold in any case.
const sharedBytes = 1 << 25

func open(w strategy.World) (strategy.Factory, error) {
	r := &run{world: w, seed: summary.Seed{Network: "sim"}, origins: make([]origin, w.Peers)}
	r.shape = func(n int) (summary.Shape, error) { return summary.DefaultShape(n), nil }
	if b := w.Params.Of(strategy.BitsPerKey); b > 0 {
		r.shape = func(n int) (summary.Shape, error) {
			s, _, err := summary.ShapeForBytes(n, max(64, int(b*float64(n)/8)))
			return s, err
		}
	}
	r.config = overlay.Config{
		Seed: r.seed.Tag(), OpenHeader: openHeader, OpenRecord: openRecord, Cache: cache.New(sharedBytes),
		MaxOrigins: int(w.Params.Of(strategy.Origins)), Memory: int(w.Params.Of(memory)),
	}
	return r.newPeer, nil
}

// node drives one peer's machine.
type node struct {
	run     *run
	host    strategy.Host
	machine *core.Machine
	now     time.Duration // time of the step under way

	queries     map[routing.QueryID]query // open queries of this peer and of others
	pending     map[uint64]pending        // questions of ours without their last answer
	requests    uint64                    // number of the last question; each session has numbers of its own
	serving     map[uint64]served         // questions of others
	served      uint64                    // number of the last question in serving
	given       uint64                    // number of the question that the machine is being given; 0: none
	links       *core.Links[wire.PeerID]
	mesh        map[strategy.ID]bool        // peers in the pubsub mesh
	dials       map[strategy.ID][]event.Ask // peers that are being dialled, with the questions for parts that wait for the link
	swept       time.Duration               // when the mesh and idle links were last looked at
	wake        time.Duration
	todo        []event.Input // inputs that the machine has not been given yet
	busy        bool          // the machine is being stepped
	notes       []Note
	unannounced []strategy.Key // keys whose change no tail and no epoch has carried yet
	denies      bool           // see deny
	older       bool           // this peer runs the version before: it knows no audits, inquiries about peers or tails
}

// query is a query that the machine has open.
type query struct {
	id   strategy.QueryID
	hops map[strategy.ID]int // hops to each holder that an answer named; others count as 1
}

// pending is a question of ours.
type pending struct {
	event.Ask
	bytes int // bytes of a search's question, until its first answer; else 0
}

// served is a question of another peer.
type served struct {
	from    strategy.ID
	number  uint64 // asker's number for the question
	query   strategy.QueryID
	refused bool            // the question is a hello of a peer without a place
	search  routing.QueryID // search that the machine opened for the question; 0: none
}

func (r *run) newPeer(h strategy.Host) strategy.Peer {
	return &node{
		run: r, host: h, queries: map[routing.QueryID]query{}, pending: map[uint64]pending{}, requests: r.origins[h.Self()].restart(),
		serving: map[uint64]served{}, links: core.NewLinks[wire.PeerID](core.Connections), mesh: map[strategy.ID]bool{},
		dials: map[strategy.ID][]event.Ask{},
	}
}

// configs returns the configurations of the machine.
func (v *node) configs() (overlay.Config, routing.Config) {
	r, self := v.run, v.host.Self()
	up, down := r.world.Rates(self)
	o := r.config
	o.Self, o.Up, o.Down, o.Rand = peerID(self), up, down, v.host.Rand()
	if strategy.Drawn(r.world.Params.Strong, r.world.Seed, self) {
		o.MaxOrigins, o.Memory = 0, 0
	}
	if u := r.world.Params.Of(strategy.Upkeep); u > 0 {
		o.Share = min(1, 8*u/float64(up))
	}
	budget := int(r.world.Params.Of(strategy.Budget))
	q := routing.Config{
		Self: peerID(self), Rand: v.host.Rand(), Has: func(key []byte) bool { return v.host.Holds(strategy.ParseKey(key)) },
		Fingerprint: func(key []byte) summary.Fingerprint { return strategy.ParseKey(key).Fingerprint },
		BudgetAny:   budget, BudgetAll: budget,
	}
	return o, q
}

// Step implements Peer.
func (v *node) Step(now time.Duration, in strategy.Input) {
	v.now = now
	if v.machine == nil {
		v.begin(now)
	}
	switch in := in.(type) {
	case strategy.LinkOpened:
		v.linkOpened(now, in)
	case strategy.LinkClosed:
		v.lost(now, in.Peer)
	case strategy.Received:
		v.use(in.From, in.Message.Body, true)
		v.receive(now, in.From, in.Message)
	case strategy.Failed:
		v.failed(now, in)
	case strategy.Started:
		v.start(now, in.Query)
	case strategy.Woken:
		v.step(now, event.Tick{})
	case strategy.Changed:
		v.changed(now, in)
	case strategy.Leaving:
		v.step(now, tails.Leaving{})
		return
	}
	v.sweep(now)
	v.host.Wake(v.wake)
}

// begin makes the machine, and tells it of the keys that the peer holds already.
func (v *node) begin(now time.Duration) {
	o, q := v.configs()
	c := core.Config{Overlay: o, Routing: q, Tails: v.tailsConfig()}
	if v.run.world.Params.Undefended {
		Loosen(&c)
	}
	m, err := core.New(c)
	if err != nil {
		panic(err) // the configuration is ours
	}
	v.denies = strategy.Drawn(v.run.world.Params.Of(deny), ^v.run.world.Seed, v.host.Self())
	v.machine = m
	if keys := len(v.run.claims(v.host.Self())); keys > 0 {
		v.step(now, core.Changed{Waiting: keys, Many: true})
	}
}

// makeEpoch publishes the next epoch.
func (v *node) makeEpoch(now, lifetime time.Duration) {
	v.unannounced = nil
	p := v.run.publish(v.host.Self(), lifetime)
	v.note(now, p)
	v.step(now, p)
}

// step gives the machine an input and carries out its effects. Inputs that effects cause come after it.
func (v *node) step(now time.Duration, in event.Input) {
	v.todo = append(v.todo, in)
	if v.busy {
		return
	}
	v.busy = true
	for i := 0; i < len(v.todo); i++ {
		for _, e := range v.machine.Step(now, v.todo[i]) {
			v.do(now, e)
		}
	}
	clear(v.todo)
	v.todo, v.busy = v.todo[:0], false
}

func (v *node) start(now time.Duration, q strategy.Query) {
	id := routing.QueryID(q.ID)
	v.queries[id] = query{id: q.ID}
	start := routing.Start{Query: routing.Query{ID: id, Key: q.Key.AppendBinary(nil), Mode: wire.Any, Private: true, Deadline: q.Deadline}}
	if q.All {
		start.Query.Mode = wire.All
	}
	v.note(now, start)
	v.step(now, start)
}

// do carries out an effect.
func (v *node) do(now time.Duration, e event.Effect) {
	switch e := e.(type) {
	case event.Wake:
		v.wake = e.At
	case core.Seek:
		v.send(idOf(e.Record.Peer), knock{}, strategy.Overhead, 0)
	case core.MakeTail:
		v.step(now, v.changes())
	case core.MakeEpoch:
		v.makeEpoch(now, e.Lifetime)
	case event.SayHello:
		v.send(idOf(e.To), hello(e.Hello), opens(e.Hello), 0)
	case event.SendCatalogue:
		v.sendCatalogue(idOf(e.To), e.Items)
	case event.SendParts:
		v.sendParts(idOf(e.To), parts{e.Group, e.Parts})
	case event.Ask:
		v.ask(now, e)
	case event.Answer:
		v.answer(e)
	case event.Connect:
		if !v.connect(now, idOf(e.To.Peer)) {
			v.step(now, event.DialFailed{Peer: e.To.Peer, Here: true})
		}
	case event.Protect:
		v.links.Need(e.Peer, true)
	case event.Disconnect:
		v.links.Need(e.Peer, false) // the link is closed when it is idle
	case event.Audit:
		if !v.older {
			v.audit(e)
		}
	case event.Learned:
		v.note(now, e)
	case tails.Send:
		v.send(idOf(e.To), tailItems(e.Items), follows(wire.Tails(e.Items)), 0)
	case tails.Advanced:
	case event.Report: // the simulator has no scores of peers
	default:
		v.route(now, e)
	}
}

func (v *node) send(to strategy.ID, body strategy.Kinded, bytes int, q strategy.QueryID) {
	v.use(to, body, false)
	v.host.Send(to, strategy.Message{Body: body, Bytes: bytes, Query: q})
}

// sendCatalogue and sendParts send messages that pubsub carries.
func (v *node) sendCatalogue(to strategy.ID, items []wire.Item) {
	v.send(to, catalogue(items), exchange.Cost(wire.Catalogue(items)), 0)
}

func (v *node) sendParts(to strategy.ID, p parts) {
	v.send(to, p, exchange.Cost(p.Parts), 0)
}

// failed tells the machine that a peer couldn't be reached.
func (v *node) failed(now time.Duration, in strategy.Failed) {
	p := peerID(in.To)
	switch b := in.Message.Body.(type) {
	case nil:
		v.dialFailed(now, in.To)
	case question:
		v.answered(now, answer{number: b.number}, 0)
	case knock:
		v.step(now, event.Unreachable{Peer: p})
	}
}
