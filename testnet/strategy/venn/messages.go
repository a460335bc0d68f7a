package venn

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Messages between venn's peers. The numbers of requests are the asker's.
type (
	hello        wire.Hello
	catalogue    []wire.Item
	graft        struct{ in bool }
	subscription struct{} // to the topic of summaries

	parts struct {
		group group.ID
		wire.Parts
	}
	partsRequest struct {
		number uint64
		wire.PartsRequest
	}
	partsAnswer struct {
		number uint64
		wire.Parts
	}

	inquiry    struct{ inquiry wire.Inquiry }
	introduced struct{ names wire.Names }
	unknown    struct{ inquiry wire.Inquiry } // the stream is refused: its protocol is not known

	haveAsk struct {
		query routing.QueryID
		key   []byte
		sent  time.Duration
		bytes int
	}
	haveAnswer struct {
		haveAsk
		has bool
	}

	ask struct {
		number uint64
		routing.Ask
	}
	names struct {
		number uint64
		answer wire.Answer
		hops   []int // from the answering peer to each of the answer's records
	}
)

// Names of kinds of messages in published tables.
func (hello) Kind() string        { return "hello" }
func (catalogue) Kind() string    { return "items" }
func (tailItems) Kind() string    { return "tailitems" }
func (knock) Kind() string        { return "knock" }
func (graft) Kind() string        { return "graft" }
func (subscription) Kind() string { return "subscription" }
func (parts) Kind() string        { return "parts" }
func (partsRequest) Kind() string { return "partsrequest" }
func (partsAnswer) Kind() string  { return "partsanswer" }
func (inquiry) Kind() string      { return "inquiry" }
func (introduced) Kind() string   { return "introduced" }
func (unknown) Kind() string      { return "unknown" }
func (auditAsk) Kind() string     { return "auditask" }
func (auditAnswer) Kind() string  { return "auditanswer" }
func (haveAsk) Kind() string      { return "haveask" }
func (haveAnswer) Kind() string   { return "haveanswer" }
func (ask) Kind() string          { return "ask" }
func (names) Kind() string        { return "names" }

const (
	graftBytes        = 80
	subscriptionBytes = strategy.Overhead + len("/venn/testnet/summaries/2") + 20

	// streamBytes is the framing of a message that opens a stream: it begins with the choice of the protocol. Ids have
	// 23 bytes or so.
	streamBytes = strategy.Overhead + len("\x13/multistream/1.0.0\n") + len("\x18/venn/hello/1.0.0/01234\n")
)

// opens returns the size of a message with which a stream is opened: the question, to which the answer comes there.
func opens(m wire.Message) int { return streamBytes + protowire.SizeBytes(m.Size()) }

// follows returns the size of a message on a stream that is open.
func follows(m wire.Message) int { return strategy.Overhead + protowire.SizeBytes(m.Size()) }

// receive takes in a message.
func (v *node) receive(now time.Duration, from strategy.ID, m strategy.Message) {
	p := peerID(from)
	switch b := m.Body.(type) {
	case graft:
		v.grafted(now, from, b.in)
	case hello:
		v.greet(now, from, wire.Hello(b))
	case full:
		v.turnedAway(now, from, b.names)
	case catalogue:
		v.step(now, event.CatalogueReceived{From: p, Items: b, Bytes: m.Bytes})
	case parts:
		v.step(now, event.PartsReceived{From: p, Transport: event.Pubsub, Group: b.group, Parts: b.Parts, Bytes: m.Bytes})
	case partsRequest:
		v.step(now, event.PartsRequested{From: p, Request: b.number, PartsRequest: b.PartsRequest})
	case partsAnswer:
		v.partsAnswered(now, p, b, m.Bytes)
	case inquiry:
		if v.older {
			v.send(from, unknown(b), follows(wire.Names{}), m.Query)
			return
		}
		v.asked = m.Query
		v.step(now, event.PeersAsked{From: p, Inquiry: b.inquiry})
		v.asked = 0
	case unknown:
		v.step(now, event.PeersSilent{From: p})
	case introduced:
		v.step(now, event.PeersNamed{From: p, Names: b.names})
	case tailItems:
		v.step(now, tails.Received{From: p, Items: b})
	case haveAsk:
		has := v.host.Look(m.Query, strategy.ParseKey(b.key))
		v.send(from, haveAnswer{b, has}, follows(wire.HaveAnswer{has}), m.Query)
	case haveAnswer:
		v.step(now, routing.Confirmed{ID: b.query, Peer: p, Has: b.has, RTT: now - b.sent, Bytes: b.bytes + m.Bytes})
	case auditAsk:
		if !v.older {
			v.audited(from, b)
		}
	case auditAnswer:
		v.step(now, event.Outcome{Peer: p, Hits: b.hits, Misses: b.misses})
	case ask:
		v.serve(now, from, m.Query, b)
	case names:
		v.named(now, p, b, m.Bytes)
	}
}

func (v *node) partsAnswered(now time.Duration, from wire.PeerID, b partsAnswer, bytes int) {
	asked, ok := v.pending[b.number]
	if !ok {
		return
	}
	delete(v.pending, b.number)
	if b.Refused {
		v.step(now, event.FetchFailed{From: from, Group: asked.group})
		return
	}
	v.step(now, event.PartsReceived{From: from, Transport: event.Direct, Group: asked.group, Parts: b.Parts, Bytes: bytes})
}

// serve lets the machine answer another's question. One that is forwarded here is for us to look into our collection
// too.
func (v *node) serve(now time.Duration, from strategy.ID, q strategy.QueryID, b ask) {
	if v.denies {
		no := wire.Answer{Final: true, Depth: v.machine.Overlay.Vouched()}
		v.send(from, names{b.number, no, nil}, follows(no), q)
		return
	}
	v.served++
	key := strategy.ParseKey(b.Key)
	in := routing.Asked{
		Request: v.served, From: peerID(from), Query: b.Query, Fingerprint: key.Fingerprint, Deadline: now + b.Within,
	}
	v.serving[in.Request] = served{from: from, number: b.number, query: q}
	if in.Kind == wire.Search {
		v.host.Look(q, key)
	}
	for _, e := range v.machine.Step(now, in) {
		v.belongs(e, in.Request, q)
		v.do(now, e)
	}
}

// belongs notes which query of the run a search is for that the machine has just opened.
func (v *node) belongs(e event.Effect, request uint64, q strategy.QueryID) {
	var id routing.QueryID
	switch e := e.(type) {
	case routing.Confirm:
		id = e.ID
	case routing.Ask:
		id = e.ID
	}
	if _, known := v.queries[id]; !known && id >= routing.MaxQueryID {
		v.queries[id] = query{id: q}
		if s, open := v.serving[request]; open {
			s.search = id
			v.serving[request] = s
		}
	}
}

// named takes in an answer to a question of ours.
func (v *node) named(now time.Duration, from wire.PeerID, b names, bytes int) {
	asked, ok := v.pending[b.number]
	if !ok {
		return
	}
	bytes, asked.bytes = bytes+asked.bytes, 0
	if v.pending[b.number] = asked; b.answer.Final {
		delete(v.pending, b.number)
	}
	v.learned(asked.query, b)
	v.step(now, routing.AnswerReceived{ID: asked.query, From: from, Kind: asked.kind, Answer: b.answer, Bytes: bytes})
}

// learned notes over how many hops names came.
func (v *node) learned(id routing.QueryID, b names) {
	q, ok := v.queries[id]
	if !ok {
		return
	}
	if q.hops == nil {
		q.hops = map[strategy.ID]int{}
		v.queries[id] = q
	}
	for i, r := range b.answer.Records {
		if p := idOf(r.Peer); q.hops[p] == 0 {
			q.hops[p] = 1 + b.hops[i]
		}
	}
}

// route carries out an effect of the query machine.
func (v *node) route(now time.Duration, e event.Effect) {
	switch e := e.(type) {
	case routing.Confirm:
		bytes := opens(wire.HaveRequest{e.Key})
		v.send(idOf(e.To.Peer), haveAsk{e.ID, e.Key, now, bytes}, bytes, v.queries[e.ID].id)
	case routing.Ask:
		if e.Kind == wire.Search {
			e.Within = e.Deadline - now
		}
		bytes := opens(e)
		n := v.ask(pending{query: e.ID, to: idOf(e.To.Peer), kind: e.Kind, bytes: bytes})
		v.send(idOf(e.To.Peer), ask{n, e}, bytes, v.queries[e.ID].id)
	case routing.Answer:
		v.answer(e)
	case routing.Found:
		q, p := v.queries[e.ID], idOf(e.Provider.Peer)
		v.host.Found(q.id, p, max(1, q.hops[p]))
		v.notes.found(e.ID, p)
	case routing.Done:
		v.host.Covered(v.queries[e.ID].id, e.Stats.Covered)
		v.host.Done(v.queries[e.ID].id)
		delete(v.queries, e.ID)
		v.notes.ended(now, e)
	}
}

// hops returns the distance in hops from here to each peer named in an answer: 0 to ourselves, 1 to a peer known here.
func (v *node) hops(search routing.QueryID, named []wire.Record) []int {
	hops := make([]int, len(named))
	for i, r := range named {
		if p := idOf(r.Peer); p != v.host.Self() {
			hops[i] = max(1, v.queries[search].hops[p])
		}
	}
	return hops
}

func (v *node) answer(e routing.Answer) {
	s, ok := v.serving[e.Request]
	if !ok {
		return
	}
	v.send(s.from, names{s.number, e.Answer, v.hops(s.search, e.Records)}, follows(e.Answer), s.query)
	if e.Final {
		delete(v.serving, e.Request)
		delete(v.queries, s.search)
	}
}
