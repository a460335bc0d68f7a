// Package overlaylab runs many overlays against each other in virtual time, for tests and experiments. Its own tests are
// transcripts.
//
// It is no model of a real network. Links have one latency, no loss, and no bandwidth of their own unless Line gives
// them one: the overlays' own budgets are tested. The pubsub mesh is each peer's first few links. The same seed gives
// the same run.
package overlaylab

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// request is a question that has arrived at a peer.
type request struct {
	by  int
	ask event.Ask
}

// Network is a set of overlays and the events under way between them.
type Network struct {
	Clock
	Peers   []*Peer
	Latency time.Duration
	Degree  int // mesh links that a peer looks for; it accepts up to twice that number
	// Sent is called for every message between peers, with its number of bytes as the overlay counts them; nil: not
	// called.
	Sent func(now time.Duration, from, to int, bytes int)
	// Line returns the rate from one peer to another in bit/s, 0 for unlimited; nil: all are unlimited.
	Line func(from, to int) float64
	// Base returns the base that an ask names once it arrives, for one that it names; nil: the same.
	Base func(wire.Given) wire.Given
	// Trace is called for every effect; nil: not called.
	Trace func(now time.Duration, peer int, e event.Effect)
	// Unchecked leaves out the checks of invariants, which take time in proportion to what a peer knows.
	Unchecked bool

	steps    int
	index    map[wire.PeerID]int
	links    map[[2]int]bool
	busy     map[[2]int]time.Duration // time until which each line is busy
	requests []request                // all questions so far; a request's number is its index
	random   uint64
}

// checked is the number of peers for which another step goes unchecked: the invariants of a small network are checked
// after every step, those of a network of n peers after one step in n/checked.
const checked = 10

// seed is the default seed of the peers' summaries.
var seed = Seed(0)

// Seed returns the test network's seed with the given number.
func Seed(number uint32) summary.Seed { return summary.Seed{Network: "test", Number: number} }

// Under returns the fingerprint under a seed number of the key that f names. Under number 0, the default, it is f
// itself, so a network cannot rotate to or from number 0.
func Under(f summary.Fingerprint, number uint32) summary.Fingerprint {
	if number == 0 {
		return f
	}
	return Seed(number).Hasher().Fingerprint(Key(f))
}

// Key returns the key that a fingerprint names.
func Key(f summary.Fingerprint) []byte { return binary.BigEndian.AppendUint64(nil, uint64(f)) }

// Peer is one overlay in a [Network].
type Peer struct {
	Overlay    *overlay.Overlay
	ID         wire.PeerID
	Direct     int // bytes of parts received directly
	Pubsub     int // bytes of parts received by pubsub
	Deltas     int // number of deltas received
	DeltaBytes int // bytes of the received deltas
	Spared     int // bytes of the parts that the deltas replaced
	Fallbacks  int // epochs received from their first part without a delta, though an earlier one was known
	Faults     map[event.Fault]int
	Served     map[wire.PeerID]int // bytes of parts sent, by origin
	Silent     bool                // sends no parts and answers no requests for them
	Liar       bool                // spoils the deltas that it sends
	Boaster    bool                // holds none of the keys that it claims
	Gone       bool                // has no connections
	Ended      bool                // takes no more steps
	Lifetime   time.Duration       // lifetime of its summaries; 0: an hour
	up         uint64              // declared rate up, bit/s
	seeds      []uint32            // numbers of its seeds: its own, and the previous one if there is one
	until      time.Duration       // end of the previous seed
	keeps      map[int]bool        // peers that it wants to stay connected with
	mesh       map[int]bool
	wake       time.Duration
	fps        []summary.Fingerprint
	shape      summary.Shape
	published  int
}

// New returns a network of peers with the given configurations, named peer-0000 and so on; see [Network.Add].
func New(configs []overlay.Config, random uint64) (*Network, error) {
	n := &Network{
		Latency: 20 * time.Millisecond, Degree: 6, random: random,
		index: map[wire.PeerID]int{}, links: map[[2]int]bool{}, busy: map[[2]int]time.Duration{},
	}
	for i, cfg := range configs {
		if _, err := n.Add(wire.PeerID(fmt.Sprintf("peer-%04d", i)), cfg); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Add adds a peer and returns its number. It sets Self, Rand and the functions of the configuration, and Seed if Seed
// is zero.
func (n *Network) Add(id wire.PeerID, cfg overlay.Config) (int, error) {
	i := len(n.Peers)
	p := &Peer{
		ID: id, Faults: map[event.Fault]int{}, Served: map[wire.PeerID]int{},
		keeps: map[int]bool{}, mesh: map[int]bool{}, wake: -1,
	}
	if err := n.open(p, i, cfg); err != nil {
		return 0, err
	}
	n.index[id] = i
	n.Peers = append(n.Peers, p)
	return i, nil
}

// open creates a new overlay for a peer.
func (n *Network) open(p *Peer, i int, cfg overlay.Config) (err error) {
	if cfg.Seed == (summary.SeedTag{}) {
		cfg.Seed = seed.Tag()
	}
	cfg.Self, cfg.Rand = p.ID, rand.New(rand.NewPCG(n.random, uint64(i)))
	cfg.OpenHeader, cfg.OpenRecord = OpenHeader, OpenRecord
	p.up, p.seeds, p.until = cfg.Up, []uint32{cfg.Seed.Number}, cfg.PreviousUntil
	if cfg.PreviousUntil > 0 {
		p.seeds = append(p.seeds, cfg.Previous.Number)
	}
	p.Overlay, err = overlay.New(cfg)
	return err
}

// Restart ends a peer and starts it again with another configuration. It then has no connections, and knows only its
// keys.
func (n *Network) Restart(i int, cfg overlay.Config) error {
	n.Leave(i)
	p := n.Peers[i]
	p.Gone, p.Ended, p.keeps, p.wake = false, false, map[int]bool{}, -1
	if err := n.open(p, i, cfg); err != nil {
		return err
	}
	n.Publish(i, p.fps)
	return nil
}

const signature = "signed:"

// Sign makes the envelopes of a [Network]. A constant before the payload stands in place of a signature. It protects
// nothing.
func Sign(payload []byte) []byte { return append([]byte(signature), payload...) }

// OpenHeader opens an envelope made by [Sign].
func OpenHeader(envelope []byte) (summary.Header, error) {
	if len(envelope) < len(signature) || string(envelope[:len(signature)]) != signature {
		return summary.Header{}, fmt.Errorf("overlaylab: no signature")
	}
	return summary.ParseHeader(envelope[len(signature):])
}

// OpenRecord opens an address record made by [Record].
func OpenRecord(envelope []byte) (wire.PeerID, error) {
	if len(envelope) < 200 {
		return "", fmt.Errorf("overlaylab: no record")
	}
	return wire.PeerID(envelope[200:]), nil
}

// Record makes a stand-in for a peer's record, of the usual size.
func Record(p wire.PeerID) []byte { return append(make([]byte, 200), p...) }

// Publish gives a peer a collection, and makes it publish a summary under each of its seeds. It panics if there is no
// summary of the collection.
func (n *Network) Publish(i int, fps []summary.Fingerprint) {
	p := n.Peers[i]
	p.fps = fps
	if !p.shape.Fits(len(fps)) {
		p.shape = summary.DefaultShape(len(fps))
	}
	for k, number := range p.seeds {
		if k > 0 && n.Now >= p.until {
			break
		}
		n.publish(i, number)
	}
}

// publish makes a peer publish a summary under a seed number.
func (n *Network) publish(i int, number uint32) {
	p := n.Peers[i]
	p.published++
	fps := make([]summary.Fingerprint, len(p.fps))
	for k, f := range p.fps {
		fps[k] = Under(f, number)
	}
	o := NewOrigin(p.ID, fps, summary.Header{
		Seed: Seed(number).Tag(), Lifetime: p.Lifetime, Shape: p.shape, Epoch: summary.Epoch{Generation: 1, Sequence: uint32(p.published)},
	})
	n.step(i, event.Published{Envelope: o.Envelope, Record: o.Record, Stream: o.Stream})
}

// Connect opens a connection from peer a to peer b. Peers that are gone, or linked already, are left as they are.
func (n *Network) Connect(a, b int) {
	k := pair(a, b)
	if a == b || n.links[k] || n.Peers[a].Gone || n.Peers[b].Gone {
		return
	}
	n.links[k] = true
	n.step(a, event.LinkOpened{Peer: n.Peers[b].ID, Outbound: true})
	n.step(b, event.LinkOpened{Peer: n.Peers[a].ID})
	n.After(time.Second, func() { n.graft(a, b) })
}

// Disconnect closes the connection between two peers.
func (n *Network) Disconnect(a, b int) {
	if !n.links[pair(a, b)] {
		return
	}
	delete(n.links, pair(a, b))
	for _, ab := range [][2]int{{a, b}, {b, a}} {
		delete(n.Peers[ab[0]].mesh, ab[1])
		n.step(ab[0], event.LinkClosed{Peer: n.Peers[ab[1]].ID})
	}
}

// Leave closes all connections of a peer. It gets no new ones until Gone is set to false.
func (n *Network) Leave(i int) {
	n.Peers[i].Gone = true
	for j := range n.Peers {
		n.Disconnect(i, j)
	}
}

// End ends a peer: its connections close, and it takes no more steps.
func (n *Network) End(i int) {
	n.Leave(i)
	n.Peers[i].Ended = true
}

func pair(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// graft puts a link into the mesh if one end looks for more mesh links and both ends have room.
func (n *Network) graft(a, b int) {
	pa, pb := n.Peers[a], n.Peers[b]
	wanted := len(pa.mesh) < n.Degree || len(pb.mesh) < n.Degree
	if !n.links[pair(a, b)] || !wanted || max(len(pa.mesh), len(pb.mesh)) >= 2*n.Degree {
		return
	}
	pa.mesh[b], pb.mesh[a] = true, true
	n.step(a, event.Meshed{Peer: pb.ID, In: true})
	n.step(b, event.Meshed{Peer: pa.ID, In: true})
}

// Step gives a peer an input now.
func (n *Network) Step(i int, in event.Input) { n.step(i, in) }

// step gives peer i an input and carries out the effects, unless the peer has ended. It panics if an invariant does not
// hold after the input.
func (n *Network) step(i int, in event.Input) {
	if n.Peers[i].Ended {
		return
	}
	effects := append([]event.Effect(nil), n.Peers[i].Overlay.Step(n.Now, in)...)
	if err := n.check(i); err != nil {
		panic(fmt.Sprintf("%s at %v, after %T: %v", n.Peers[i].ID, n.Now, in, err))
	}
	for _, e := range effects {
		if n.Trace != nil {
			n.Trace(n.Now, i, e)
		}
		n.do(i, e)
	}
}

// check checks the invariants of peer i's overlay after some steps, see checked.
func (n *Network) check(i int) error {
	if n.steps++; n.Unchecked || n.steps%(1+len(n.Peers)/checked) != 0 {
		return nil
	}
	return n.Peers[i].Overlay.Check()
}

// do carries out one effect of peer i.
func (n *Network) do(i int, e event.Effect) {
	p := n.Peers[i]
	switch e := e.(type) {
	case event.Wake:
		if p.wake != e.At {
			p.wake = e.At
			n.After(e.At-n.Now, func() {
				if p.wake <= n.Now {
					p.wake = -1
					n.step(i, event.Tick{})
				}
			})
		}
	case event.SayHello:
		n.send(i, e.To, exchange.Cost(e.Hello), event.HelloReceived{Peer: p.ID, Hello: e.Hello})
	case event.SendCatalogue:
		size := exchange.Cost(wire.Catalogue(e.Items))
		items := slices.Clone(e.Items)
		for k := range items {
			items[k].Given = n.base(items[k].Given)
		}
		n.send(i, e.To, size, event.CatalogueReceived{From: p.ID, Items: items, Bytes: size})
	case event.SendParts:
		if p.Silent {
			return
		}
		p.Served[n.originOf(e.Group)] += e.Run.EncodedBytes()
		n.sendParts(i, e)
	case event.Ask:
		n.ask(i, e)
	case event.Answer:
		n.answer(i, e)
	case event.Connect:
		j, exists := n.index[e.To.Peer]
		if !exists || n.Peers[j].Gone {
			n.After(n.Latency, func() { n.step(i, event.DialFailed{Peer: e.To.Peer}) })
			return
		}
		p.keeps[j] = true
		n.After(2*n.Latency, func() { n.Connect(i, j) })
	case event.Protect:
		if j, exists := n.index[e.Peer]; exists {
			p.keeps[j] = true
		}
	case event.Disconnect:
		j, exists := n.index[e.Peer]
		delete(p.keeps, j)
		if exists && !n.Peers[j].keeps[i] {
			n.After(n.Latency, func() { n.Disconnect(i, j) })
		}
	case event.Audit:
		n.audit(i, e)
	case event.Report:
		p.Faults[e.Fault]++
	case event.Learned:
		if e.Fallback {
			p.Fallbacks++
		}
		if e.Delta > 0 {
			p.Deltas++
			p.DeltaBytes += e.Delta
			p.Spared += e.Bytes
		} else if e.Transport == event.Direct {
			p.Direct += e.Bytes
		} else {
			p.Pubsub += e.Bytes
		}
	}
}

// ask brings a question of peer i to the peer that it names. The question fails if that peer is gone. A request for
// parts also fails if there is no link and the record has no addresses, or if the peer is silent.
func (n *Network) ask(i int, e event.Ask) {
	j, exists := n.index[e.To.Peer]
	none := func() { n.step(i, event.Answered{Ask: e}) }
	if _, inquiry := e.Question.(wire.Inquiry); inquiry {
		n.After(4*n.Latency, func() {
			if !exists || n.Peers[j].Gone {
				none()
				return
			}
			n.request(i, j, e)
		})
		return
	}
	if !exists || n.Peers[j].Gone || len(e.To.Envelope) == 0 && !n.links[pair(i, j)] {
		n.After(n.Latency, none)
		return
	}
	n.Connect(i, j)
	n.After(5*n.Latency, func() {
		if !n.links[pair(i, j)] || n.Peers[j].Silent {
			none()
			return
		}
		n.request(i, j, e)
	})
}

// request hands a question of peer i to peer j.
func (n *Network) request(i, j int, e event.Ask) {
	n.requests = append(n.requests, request{i, e})
	question := e.Question
	if q, ok := question.(wire.PartsRequest); ok {
		q.Given = n.base(q.Given)
		question = q
	}
	n.step(j, event.Asked{From: n.Peers[i].ID, Request: uint64(len(n.requests) - 1), Question: question})
}

// base returns the base that an ask names once it arrives.
func (n *Network) base(g wire.Given) wire.Given {
	if n.Base == nil || g == (wire.Given{}) {
		return g
	}
	return n.Base(g)
}

// Question returns the question of a request.
func (n *Network) Question(request uint64) wire.Message { return n.requests[request].ask.Question }

// answer brings an answer of peer i to the peer that asked. Parts take time on the line.
func (n *Network) answer(i int, e event.Answer) {
	r := n.requests[e.Request]
	in := event.Answered{Ask: r.ask, Answer: e.Answer}
	p, isParts := e.Answer.(wire.Parts)
	if !isParts || p.Refused {
		n.After(n.Latency, func() { n.step(r.by, in) })
		return
	}
	n.Peers[i].Served[n.Peers[i].ID] += p.Run.EncodedBytes()
	in.Bytes = exchange.Cost(p)
	p.Delta = n.spoiled(i, p.Delta)
	in.Answer = p
	n.send(i, n.Peers[r.by].ID, in.Bytes, in)
}

func (n *Network) sendParts(i int, e event.SendParts) {
	size := exchange.Cost(e.Parts)
	e.Delta = n.spoiled(i, e.Delta)
	n.send(i, e.To, size, event.PartsReceived{From: n.Peers[i].ID, Transport: event.Pubsub, Group: e.Group, Parts: e.Parts, Bytes: size})
}

// audit answers an audit: a boaster has none of the keys, any other peer has all.
func (n *Network) audit(i int, e event.Audit) {
	out := event.Outcome{Peer: e.Of.Peer, Hits: rank.AuditKeys}
	if j, exists := n.index[e.Of.Peer]; exists && n.Peers[j].Boaster {
		out.Hits, out.Misses = 0, rank.AuditKeys
	}
	n.After(2*n.Latency, func() { n.step(i, out) })
}

// spoiled returns the delta that a peer sends: a changed one if the peer is a liar, else the same.
func (n *Network) spoiled(peer int, delta []byte) []byte {
	if delta != nil && n.Peers[peer].Liar {
		delta = append([]byte(nil), delta...)
		delta[len(delta)-1] ^= 1
	}
	return delta
}

func (n *Network) originOf(g wire.GroupID) wire.PeerID {
	for _, p := range n.Peers {
		if _, ok := p.seedOf(g); ok {
			return p.ID
		}
	}
	return ""
}

// seedOf returns the seed number under which the group belongs to the peer.
func (p *Peer) seedOf(g wire.GroupID) (uint32, bool) {
	for _, number := range p.seeds {
		if wire.Tag(Seed(number).Tag(), string(p.ID)) == g.OriginTag() {
			return number, true
		}
	}
	return 0, false
}

// onLine returns the time until a message has passed the line: its wait for earlier messages, and its own time.
func (n *Network) onLine(from, to, size int) time.Duration {
	if n.Line == nil || n.Line(from, to) == 0 {
		return 0
	}
	k := [2]int{from, to}
	took := time.Duration(float64(8*size) / n.Line(from, to) * float64(time.Second))
	n.busy[k] = max(n.Now, n.busy[k]) + took
	return n.busy[k] - n.Now
}

// send delivers an input to a peer after the latency and the line's time, if the two are still connected then.
func (n *Network) send(from int, to wire.PeerID, size int, in event.Input) {
	j, ok := n.index[to]
	if !ok {
		return
	}
	if n.Sent != nil {
		n.Sent(n.Now, from, j, size)
	}
	n.After(n.Latency+n.onLine(from, j, size), func() {
		if n.links[pair(from, j)] {
			n.step(j, in)
		}
	})
}
