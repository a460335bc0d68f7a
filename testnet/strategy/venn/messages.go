package venn

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Messages between venn's peers.
type (
	hello        wire.Hello
	catalogue    []wire.Item
	graft        struct{ in bool }
	subscription struct{} // subscribes to the topic of summaries

	parts struct {
		group wire.GroupID
		wire.Parts
	}
	// question is a question that the core puts, with the asker's number for it.
	question struct {
		number uint64
		wire.Message
	}
	// answer is an answer to the question of that number. Without a Message, the peer refuses the stream, because it
	// does not know the protocol.
	answer struct {
		number uint64
		wire.Message
		hops []int // hops from the answering peer to the peer of each record that a search's answer names
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
func (auditAsk) Kind() string     { return "auditask" }
func (auditAnswer) Kind() string  { return "auditanswer" }

func (q question) Kind() string { return kindOf(q.Message) }
func (a answer) Kind() string   { return kindOf(a.Message) }

// kindOf returns the name of the kind of a question or an answer.
func kindOf(m wire.Message) string {
	switch m.(type) {
	case wire.PartsRequest:
		return "partsrequest"
	case wire.Parts:
		return "partsanswer"
	case wire.Inquiry:
		return "inquiry"
	case wire.Names:
		return "introduced"
	case wire.HaveRequest:
		return "haveask"
	case wire.HaveAnswer:
		return "haveanswer"
	case wire.Query:
		return "ask"
	case wire.Answer:
		return "names"
	}
	return "unknown"
}

const (
	graftBytes        = 80
	subscriptionBytes = strategy.Overhead + len("/venn/testnet/summaries/2") + 20

	// streamBytes is the framing, in bytes, of a message that opens a stream. The stream begins with the choice of the
	// protocol, whose id has about 23 bytes.
	streamBytes = strategy.Overhead + len("\x13/multistream/1.0.0\n") + len("\x18/venn/hello/1.0.0/01234\n")
)

// opens returns the size in bytes of a message that opens a stream, such as a question. Its answer comes on the stream.
func opens(m wire.Message) int { return streamBytes + protowire.SizeBytes(m.Size()) }

// follows returns the size in bytes of a message on a stream that is open.
func follows(m wire.Message) int {
	if m == nil { // the stream is reset
		return strategy.Overhead
	}
	return strategy.Overhead + protowire.SizeBytes(m.Size())
}

// receive handles a message by its type.
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
	case tailItems:
		v.step(now, tails.Received{From: p, Items: b})
	case auditAsk:
		if !v.older {
			v.audited(from, b)
		}
	case auditAnswer:
		v.step(now, event.Outcome{Peer: p, Hits: b.hits, Misses: b.misses})
	case question:
		v.asked(now, from, m.Query, b)
	case answer:
		v.answered(now, b, m.Bytes)
	}
}

// ask puts a question of the core to a peer. It asks for parts on a link, which it opens if the peer's record is known.
// Without a record it asks without a link, and the peer refuses if their link has just ended.
func (v *node) ask(now time.Duration, e event.Ask) {
	to := idOf(e.To.Peer)
	switch e.Question.(type) {
	case wire.Inquiry:
		if v.older {
			v.step(now, event.Answered{Ask: e, Here: true})
			return
		}
	case wire.PartsRequest:
		if !v.connected(to) && len(e.To.Envelope) > 0 {
			if v.connect(now, to) {
				v.dials[to] = append(v.dials[to], e)
			} else {
				v.step(now, event.Answered{Ask: e, Here: true})
			}
			return
		}
	}
	v.requests++
	p := pending{Ask: e}
	bytes := opens(e.Question)
	if e.Search != 0 {
		p.bytes = bytes
	}
	v.pending[v.requests] = p
	v.send(to, question{v.requests, e.Question}, bytes, v.queryOf(routing.QueryID(e.Search)))
}

// queryOf returns the run's query that a search serves. A search that the machine has just opened serves the question
// that the machine is being given.
func (v *node) queryOf(search routing.QueryID) strategy.QueryID {
	q, known := v.queries[search]
	if s, serving := v.serving[v.given]; !known && search >= routing.MaxQueryID && serving {
		q = query{id: s.query}
		v.queries[search] = q
		s.search = search
		v.serving[v.given] = s
	}
	return q.id
}

// answered gives the machine an answer to a question of this peer.
func (v *node) answered(now time.Duration, a answer, bytes int) {
	asked, ok := v.pending[a.number]
	if !ok {
		return
	}
	in := event.Answered{Ask: asked.Ask, Answer: a.Message, Bytes: bytes + asked.bytes}
	names, search := a.Message.(wire.Answer)
	if asked.bytes = 0; search && !names.Final {
		v.pending[a.number] = asked
	} else {
		delete(v.pending, a.number)
	}
	if search {
		v.learned(routing.QueryID(asked.Search), names.Records, a.hops)
	}
	v.step(now, in)
}

// asked answers a question for keys, and has the machine answer other questions. For a search it also looks the key up,
// which the host counts as a probe.
func (v *node) asked(now time.Duration, from strategy.ID, q strategy.QueryID, b question) {
	s := served{from: from, number: b.number, query: q}
	switch m := b.Message.(type) {
	case wire.HaveRequest:
		v.reply(s, wire.HaveAnswer{v.host.Look(q, strategy.ParseKey(m.Keys[0]))})
		return
	case wire.Inquiry:
		if v.older {
			v.send(from, answer{number: b.number}, follows(wire.Names{}), q)
			return
		}
	case wire.Query:
		if v.denies {
			v.reply(s, wire.Answer{Final: true, Depth: v.machine.Overlay.Vouched()})
			return
		}
		if m.Kind == wire.Search {
			v.host.Look(q, strategy.ParseKey(m.Key))
		}
	}
	v.give(now, s, b.Message)
}

// give has the machine answer a question.
func (v *node) give(now time.Duration, s served, question wire.Message) {
	v.served++
	v.serving[v.served], v.given = s, v.served
	v.step(now, event.Asked{From: peerID(s.from), Request: v.served, Question: question})
	v.given = 0
}

// answer sends an answer of the machine.
func (v *node) answer(e event.Answer) {
	s, ok := v.serving[e.Request]
	if !ok {
		return
	}
	v.reply(s, e.Answer)
	if a, search := e.Answer.(wire.Answer); !search || a.Final {
		delete(v.serving, e.Request)
		delete(v.queries, s.search)
	}
}

func (v *node) reply(s served, m wire.Message) {
	if names, is := m.(wire.Names); is && s.refused {
		v.send(s.from, full{names}, follows(names), 0)
		return
	}
	a := answer{number: s.number, Message: m}
	if names, is := m.(wire.Answer); is {
		a.hops = v.hops(s.search, names.Records)
	}
	v.send(s.from, a, follows(m), s.query)
}

// learned notes the number of hops from here to the peers that an answer to a search names.
func (v *node) learned(id routing.QueryID, named []wire.Record, hops []int) {
	q, ok := v.queries[id]
	if !ok {
		return
	}
	if q.hops == nil {
		q.hops = map[strategy.ID]int{}
		v.queries[id] = q
	}
	for i, r := range named {
		if p := idOf(r.Peer); q.hops[p] == 0 {
			q.hops[p] = 1 + hops[i]
		}
	}
}

// route carries out an effect of the query machine.
func (v *node) route(now time.Duration, e event.Effect) {
	switch e := e.(type) {
	case routing.Found:
		q, p := v.queries[e.ID], idOf(e.Provider.Peer)
		v.host.Found(q.id, p, max(1, q.hops[p]))
		v.note(now, e)
	case routing.Done:
		v.host.Covered(v.queries[e.ID].id, e.Stats.Covered)
		v.host.Done(v.queries[e.ID].id)
		delete(v.queries, e.ID)
		v.note(now, e)
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
