// Package routinglab runs routing machines against each other in virtual time, for tests and experiments. It has a [Net]
// of nodes with given collections, links and knowledge of each other. Its own tests are transcripts.
//
// Summaries are modelled. A node's view of another matches every key that the other holds. It matches another key when
// a hash of peer and key falls below the false-positive rate. So deeper knowledge has a subset of the false matches, as
// with prefixes of one summary.
package routinglab

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

// Net is a set of nodes on one virtual clock. Events at one instant happen in the order in which they were scheduled.
type Net struct {
	overlaylab.Clock
	RTT   time.Duration // between any two nodes
	Trace func(line string)
	Alike bool // its nodes draw the same random numbers

	cfg      routing.Config // of its nodes
	nodes    map[wire.PeerID]*Node
	requests []pending                      // indexed by request number
	keys     map[summary.Fingerprint]string // a View sees fingerprints only
	rand     *rand.Rand
	asked    routing.QueryID // number of the last query that Ask began
}

// pending is a request under way.
type pending struct {
	asker *Node
	ask   event.Ask
}

// NewNet makes an empty net, whose nodes will have a configuration. Its randomness follows from seed.
func NewNet(seed uint64, cfg routing.Config) *Net {
	return &Net{
		RTT: 20 * time.Millisecond, cfg: cfg, nodes: map[wire.PeerID]*Node{}, keys: map[summary.Fingerprint]string{},
		rand: rand.New(rand.NewPCG(seed, 0)),
	}
}

// Node is a peer of a Net. Its fields may be set until the net runs, and faults while it does.
type Node struct {
	ID     wire.PeerID
	Holds  map[string]bool
	Claims map[string]bool               // keys that its summary matches though it doesn't hold them
	Knows  map[wire.PeerID]float64       // false-positive rates of the summaries that it holds, by origin; no entry: the peer is unknown to it
	Links  []wire.PeerID                 // sorted
	Down   bool                          // can't be reached
	Mute   bool                          // never answers
	Slow   time.Duration                 // delay of its answers
	Blind  bool                          // no summary that it holds shows any key
	Behind map[wire.PeerID]bool          // origins whose latest epoch, with all their keys, it does not know
	Ages   map[wire.PeerID]time.Duration // age of its knowledge of linked peers
	Boasts bool                          // claims to know the whole network, and names no candidate when asked
	Costs  int                           // messages that it adds to the cost stated in its answers
	Range  space.Range                   // range that it covers; the zero range is everybody
	Ask    []region.Contact              // peers that it can ask about the rest
	More   []region.Contact              // peers that others name once it wants more
	Unsaid bool                          // peers asked for more contacts do not answer
	Judged []event.ContactAnswered       // outcomes that it reported of contacts
	Clear  space.Range                   // range in which it expects few false matches; the zero range: Range
	Others []region.Contact              // peers that it can ask about a range that they know better
	Router *routing.Router
	Done   []routing.Done
	Found  map[routing.QueryID][]wire.PeerID

	net    *Net
	record map[wire.PeerID]event.Outcome
	wake   time.Duration
	sorted []wire.PeerID // keys of Knows, sorted, once asked for
}

// Peer returns the node of a name, which it makes if there is none. It panics on a configuration that package routing
// refuses.
func (n *Net) Peer(id wire.PeerID) *Node {
	if n.nodes[id] == nil {
		n.add(id, n.cfg)
	}
	return n.nodes[id]
}

// Peers returns all nodes, sorted by name.
func (n *Net) Peers() (out []*Node) {
	for _, id := range slices.Sorted(maps.Keys(n.nodes)) {
		out = append(out, n.nodes[id])
	}
	return out
}

// add makes a node with cfg, setting Self, Has, Fingerprint and Rand.
func (n *Net) add(id wire.PeerID, cfg routing.Config) *Node {
	node := &Node{
		ID: id, net: n, Holds: map[string]bool{}, Claims: map[string]bool{}, Knows: map[wire.PeerID]float64{},
		Found: map[routing.QueryID][]wire.PeerID{}, record: map[wire.PeerID]event.Outcome{}, wake: -1,
	}
	cfg.Self = id
	cfg.Has = func(key []byte) bool { return node.Holds[string(key)] }
	cfg.Fingerprint = n.fingerprint
	if cfg.Rand = rand.New(rand.NewPCG(n.rand.Uint64(), 0)); n.Alike {
		cfg.Rand = rand.New(rand.NewPCG(1, 1))
	}
	r, err := routing.New(cfg, (*view)(node))
	if err != nil {
		panic(err)
	}
	node.Router = r
	n.nodes[id] = node
	return node
}

// Link links two nodes, unless they are the same node or already linked.
func Link(a, b *Node) {
	if a == b || slices.Contains(a.Links, b.ID) {
		return
	}
	a.Links, b.Links = append(a.Links, b.ID), append(b.Links, a.ID)
	slices.Sort(a.Links)
	slices.Sort(b.Links)
}

// Link links the pairs of a list such as "a-b b-c".
func (n *Net) Link(pairs string) {
	for pair := range strings.FieldsSeq(pairs) {
		a, b, _ := strings.Cut(pair, "-")
		Link(n.Peer(wire.PeerID(a)), n.Peer(wire.PeerID(b)))
	}
}

// Ask has a node begin a query, and returns its ID: one more than that of the last query.
func (n *Net) Ask(at wire.PeerID, key string, mode wire.Mode) routing.QueryID {
	n.asked++
	n.Start(at, routing.Query{ID: n.asked, Key: []byte(key), Mode: mode})
	return n.asked
}

// Find has a node look for one holder of a key, runs until nothing is scheduled, and returns the query's statistics.
func (n *Net) Find(at wire.PeerID, key string) routing.Stats {
	n.Ask(at, key, wire.Any)
	n.RunAll()
	done := n.nodes[at].Done
	return done[len(done)-1].Stats
}

// Fingerprint returns the fingerprint that the net uses for a key.
func Fingerprint(key []byte) summary.Fingerprint {
	h := fnv.New64a()
	_, _ = h.Write(key)
	return summary.Fingerprint(h.Sum64() & (1<<48 - 1))
}

// fingerprint returns the fingerprint of a key, and records the key, so that views find it by its fingerprint.
func (n *Net) fingerprint(key []byte) summary.Fingerprint {
	f := Fingerprint(key)
	n.keys[f] = string(key)
	return f
}

// view shows a node's knowledge as routing.View.
type view Node

func (v *view) known() []wire.PeerID {
	if len(v.sorted) != len(v.Knows) {
		v.sorted = v.sorted[:0]
		for p := range v.Knows {
			v.sorted = append(v.sorted, p)
		}
		slices.Sort(v.sorted)
	}
	return v.sorted
}

// Candidates returns the known peers whose modelled summaries match the key with fingerprint f.
func (v *view) Candidates(_ []byte, f summary.Fingerprint) []overlay.Candidate {
	var out []overlay.Candidate
	for _, p := range v.known() {
		peer, rate := v.net.nodes[p], v.Knows[p]
		if v.Blind || v.Behind[p] || !peer.matches(f, rate) {
			continue
		}
		rec, _ := v.Record(p)
		o := v.record[p]
		out = append(out, overlay.Candidate{
			Peer: p, Record: rec, Rate: rate, Hits: o.Hits, Misses: o.Misses, RTT: v.net.RTT,
			Connected: slices.Contains(v.Links, p), N: len(peer.Holds),
		})
	}
	return out
}

func (n *Node) matches(f summary.Fingerprint, rate float64) bool {
	key := n.net.keys[f]
	if n.Holds[key] || n.Claims[key] {
		return true
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%x %s", uint64(f), n.ID)
	// FNV's high bits vary little between short inputs that end alike: mix them.
	return float64(h.Sum64()*0x9e3779b97f4a7c15>>11)/(1<<53) < rate
}

func (v *view) FalseMatches() float64 {
	sum := 0.0
	for _, p := range v.known() {
		sum += v.Knows[p]
	}
	return sum
}

func (v *view) Covers() space.Range { return v.Range }

func (v *view) HasSummary(p wire.PeerID) bool {
	_, ok := v.Knows[p]
	return ok
}

func (v *view) Contacts() []region.Contact { return v.Ask }

func (v *view) Precise() space.Range {
	if precise := v.Clear; precise != (space.Range{}) {
		return precise
	}
	return v.Range
}

func (v *view) Peers() []region.Contact { return v.Others }

// Knowledge returns what linked peers know; peers that boast claim to know all.
func (v *view) Knowledge() []overlay.Knowledge {
	var out []overlay.Knowledge
	for _, p := range v.Links {
		if n := v.net.nodes[p]; n.Boasts {
			out = append(out, overlay.Knowledge{Peer: p, Origins: math.MaxInt32})
		} else {
			out = append(out, overlay.Knowledge{Peer: p, Origins: len(v.net.nodes), FalseMatches: (*view)(n).FalseMatches()})
		}
	}
	return out
}

func (v *view) Fresh(p wire.PeerID) (age time.Duration, ok bool) {
	age, ok = (*Node)(v).Ages[p]
	return age, ok
}

func (v *view) Origins() int { return len(v.Knows) }

func (v *view) Linked() []wire.PeerID { return v.Links }

func (v *view) Record(p wire.PeerID) (wire.Record, bool) {
	if _, ok := v.Knows[p]; !ok && p != v.ID {
		return wire.Record{}, false
	}
	return wire.Record{Peer: p, Envelope: []byte("record of " + p)}, true
}

// Start opens a query at a node now.
func (n *Net) Start(at wire.PeerID, q routing.Query) { n.Step(at, routing.Start{Query: q}) }

// Step gives a node an input now and carries out the effects.
func (n *Net) Step(at wire.PeerID, in event.Input) {
	node := n.nodes[at]
	n.trace(node, "<", in)
	for _, e := range slices.Clone(node.Router.Step(n.Now, in)) {
		n.trace(node, ">", e)
		node.do(e)
	}
}

func (n *Net) trace(node *Node, way string, what any) {
	if n.Trace != nil {
		n.Trace(fmt.Sprintf("%-8v %s %s %v", n.Now, node.ID, way, described(n.Now, what)))
	}
}

// described returns the trace's text for an input or effect that other machines share. It returns others unchanged.
func described(now time.Duration, what any) any {
	switch e := what.(type) {
	case event.Ask:
		return describedAsk(now, e)
	case event.Answered:
		return describedAnswer(e)
	case event.Asked:
		q := e.Question.(wire.Query)
		s := fmt.Sprintf("Asked #%d %s by %s %q %s", e.Request, q.Kind, e.From, q.Key, q.Mode)
		if q.Kind == wire.Search {
			s += fmt.Sprintf(" origin=%s nonce=%x want=%d budget=%d hops=%d deadline=%v", q.Origin, q.Nonce, q.Want, q.Budget, q.Hops, now+q.Within) + unlessZero(" fresh=", q.Fresh)
		}
		return s
	case event.Answer:
		a, served := e.Answer.(wire.Answer)
		if !served {
			return fmt.Sprintf("Answer #%d refused", e.Request)
		}
		return fmt.Sprintf("Answer #%d %s messages=%d%s%s", e.Request, peers(a.Records), a.Messages, unlessZero(" as of ", a.AsOf), final(a.Final))
	case event.Outcome:
		return fmt.Sprintf("Outcome %s hits=%d misses=%d", e.Peer, e.Hits, e.Misses)
	case event.ContactAnswered:
		switch {
		case e.Failed:
			return fmt.Sprintf("ContactOutcome %s failed", e.Peer)
		case e.Denied:
			return fmt.Sprintf("ContactOutcome %s denied", e.Peer)
		case e.Proved:
			return fmt.Sprintf("ContactOutcome %s proved", e.Peer)
		}
		return fmt.Sprintf("ContactOutcome %s depth=%d", e.Peer, e.Depth)
	case event.ContactsWanted:
		return fmt.Sprintf("WantContacts %s ask=%d", routing.QueryID(e.Search), e.Ask)
	case event.ContactsNamed:
		return fmt.Sprintf("ContactsNamed %s asked=%d awaited=%d", routing.QueryID(e.Search), e.Asked, e.Awaited)
	case event.Wake:
		return fmt.Sprintf("Wake %v", e.At)
	case event.Tick:
		return "Tick"
	}
	return what
}

func describedAsk(now time.Duration, e event.Ask) string {
	id := routing.QueryID(e.Search)
	q, query := e.Question.(wire.Query)
	switch {
	case !query:
		return fmt.Sprintf("Confirm %s %s %q", id, e.To.Peer, e.Question.(wire.HaveRequest).Keys[0])
	case q.Kind == wire.Candidates:
		return fmt.Sprintf("AskCandidates %s %s %q %s", id, e.To.Peer, q.Key, q.Mode)
	}
	return fmt.Sprintf("Forward %s %s %q %s want=%d budget=%d origin=%s nonce=%x deadline=%v hops=%d%s",
		id, e.To.Peer, q.Key, q.Mode, q.Want, q.Budget, q.Origin, q.Nonce, now+q.Within, q.Hops, unlessZero(" fresh=", q.Fresh))
}

func describedAnswer(e event.Answered) string {
	id, p := routing.QueryID(e.Search), e.To.Peer
	q, query := e.Question.(wire.Query)
	switch a := e.Answer.(type) {
	case wire.HaveAnswer:
		return fmt.Sprintf("Confirmed %s %s %s", id, p, map[bool]string{true: "holds", false: "lacks"}[a[0]])
	case wire.Answer:
		if q.Kind == wire.Candidates {
			return fmt.Sprintf("CandidatesReceived %s from=%s %s", id, p, peers(a.Records))
		}
		return fmt.Sprintf("ForwardReturned %s from=%s %s messages=%d%s", id, p, peers(a.Records), a.Messages, unlessZero(" as of ", a.AsOf)+final(a.Final))
	}
	if query {
		return fmt.Sprintf("AskFailed %s %s", id, p)
	}
	return fmt.Sprintf("ConfirmFailed %s %s", id, p)
}

func peers(rs []wire.Record) string {
	names := make([]string, len(rs))
	for i, r := range rs {
		names[i] = string(r.Peer)
	}
	return "[" + strings.Join(names, " ") + "]"
}

func unlessZero(name string, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return name + d.String()
}

func final(f bool) string {
	if f {
		return " final"
	}
	return ""
}

// do carries out an effect.
func (n *Node) do(e event.Effect) {
	net := n.net
	switch e := e.(type) {
	case event.Ask:
		if asked, confirm := e.Question.(wire.HaveRequest); confirm {
			n.confirm(e, string(asked.Keys[0]))
		} else {
			n.request(e)
		}
	case event.Answer:
		n.answer(e)
	case routing.Found:
		n.Found[e.ID] = append(n.Found[e.ID], e.Provider.Peer)
	case routing.Done:
		n.Done = append(n.Done, e)
	case event.Outcome:
		o := n.record[e.Peer]
		n.record[e.Peer] = event.Outcome{Peer: e.Peer, Hits: o.Hits + e.Hits, Misses: o.Misses + e.Misses}
	case event.ContactAnswered:
		n.Judged = append(n.Judged, e)
	case event.ContactsWanted:
		n.want(e)
	case event.Wake:
		n.wake = e.At
		net.After(e.At-net.Now, func() {
			if n.wake == e.At {
				net.Step(n.ID, event.Tick{})
			}
		})
	default:
		panic(fmt.Sprintf("routinglab: unknown effect %T", e))
	}
}

// want carries out a request for more contacts. Other peers name those in More, unless Unsaid is set.
func (n *Node) want(e event.ContactsWanted) {
	net, in := n.net, event.ContactsNamed{Search: e.Search}
	if len(n.More) > 0 || n.Unsaid {
		in.Asked, in.Awaited = e.Ask, e.Ask
	}
	if len(n.More) > 0 && !n.Unsaid {
		net.After(net.RTT, func() {
			n.Ask, n.More = append(slices.Clone(n.Ask), n.More...), nil
			net.Step(n.ID, event.ContactsNamed{Search: e.Search})
		})
	}
	net.After(0, func() { net.Step(n.ID, in) })
}

// confirm carries out a confirmation. It takes a round trip, or three without a link, and the asked peer's Slow.
func (n *Node) confirm(e event.Ask, key string) {
	net, peer := n.net, n.net.nodes[e.To.Peer]
	rtt := net.RTT
	if !slices.Contains(n.Links, e.To.Peer) {
		rtt *= 3
	}
	if peer != nil {
		rtt += peer.Slow
	}
	net.After(rtt, func() {
		switch {
		case peer == nil || peer.Down:
			net.Step(n.ID, event.Answered{Ask: e})
		case !peer.Mute:
			net.Step(n.ID, event.Answered{Ask: e, Answer: wire.HaveAnswer{peer.Holds[key]}})
		}
	})
}

// request brings a question for names, or a forwarded query, to the asked peer.
func (n *Node) request(e event.Ask) {
	net, peer := n.net, n.net.nodes[e.To.Peer]
	a := event.Asked{Request: uint64(len(net.requests)), From: n.ID, Question: e.Question}
	net.requests = append(net.requests, pending{n, e})
	net.After(net.RTT/2, func() {
		switch {
		case peer == nil || peer.Down:
			net.After(net.RTT/2, func() { net.Step(n.ID, event.Answered{Ask: e}) })
		case !peer.Mute:
			net.Step(e.To.Peer, a)
		}
	})
}

// answer brings an answer to the asker, falsified if the node boasts or overstates its costs.
func (n *Node) answer(e event.Answer) {
	net := n.net
	if e.Request >= uint64(len(net.requests)) {
		return // asked by the script, which reads the trace
	}
	p := net.requests[e.Request]
	net.After(net.RTT/2+n.Slow, func() {
		a, served := e.Answer.(wire.Answer)
		if !served {
			net.Step(p.asker.ID, event.Answered{Ask: p.ask})
			return
		}
		if n.Boasts && p.ask.Question.(wire.Query).Kind == wire.Candidates {
			a.Records = nil
		}
		a.Messages += n.Costs
		net.Step(p.asker.ID, event.Answered{Ask: p.ask, Answer: a})
	})
}

// Answered returns the input for a peer's answer to a question of a query. A nil answer means that none comes.
func Answered(id routing.QueryID, p wire.PeerID, question, answer wire.Message) event.Answered {
	return event.Answered{Ask: event.Ask{To: wire.Record{Peer: p}, Question: question, Search: uint64(id)}, Answer: answer}
}
