package strategy

import (
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

// What venn's peers say to each other, besides overlay.Hello and catalogues: that is, []overlay.Item. The names of requests
// are the asker's.
type (
	graft        struct{ in bool }
	subscription struct{} // to the topic of summaries

	vennParts struct {
		group            group.ID
		envelope, record []byte
		run              summary.Run
		delta            []byte
	}
	vennRequest struct {
		number uint64
		parts  overlay.PartsRequested
	}
	vennAnswer struct {
		number  uint64
		refused bool
		parts   vennParts
	}

	vennInquiry    struct{ inquiry overlay.Inquiry }
	vennIntroduced struct{ names overlay.Names }
	vennUnknown    struct{ inquiry overlay.Inquiry } // the stream is refused: its protocol is not known

	vennHave struct {
		query routing.QueryID
		key   []byte
		sent  time.Duration
	}
	vennHas struct {
		query routing.QueryID
		has   bool
		sent  time.Duration
	}

	vennAsk struct {
		number uint64
		query  routing.QueryID
		asked  routing.Asked
	}
	vennNames struct {
		number uint64
		answer routing.Answer
		hops   []int // from the answering peer to each of the answer's records
	}
)

type vennKind uint8

const (
	partsKind vennKind = iota
	namesKind
	searchKind
)

// Sizes of messages. Those of the overlay are what its budgets count. A question opens a stream of its own, on which the answer comes.
const (
	graftBytes        = 80
	subscriptionBytes = Overhead + len("/venn/testnet/summaries/1") + 20
	partsRequestBytes = streamBytes + 26
	refusalBytes      = Overhead + 3
	vennUnknownBytes  = 4

	// streamBytes is the framing of a message that opens a stream: it begins with the choice of the protocol. Ids have 17 bytes or so.
	streamBytes = Overhead + len("\x13/multistream/1.0.0\n") + len("\x12/venn/hello/1.0.0\n")
)

var (
	vennHaveBytes = streamBytes + 1 + len(wire.AppendHaveRequest(nil, [][]byte{make([]byte, KeyBytes)}))
	vennHasBytes  = Overhead + 1 + len(wire.AppendHaveAnswer(nil, []bool{true}))
)

func (p vennParts) bytes() int {
	if p.delta != nil {
		return overlay.DeltaBytes(p.delta, p.envelope, p.record)
	}
	return overlay.RunBytes(p.run, p.envelope, p.record)
}

func helloBytes(h overlay.Hello) int { return streamBytes + 1 + len(wire.AppendHello(nil, h)) }

func askBytes(a routing.Asked, now time.Duration) int {
	return streamBytes + 2 + len(wire.AppendQuery(nil, wire.Query{
		Kind: a.Kind, Mode: a.Mode, Nonce: a.Nonce, Origin: a.Origin, Key: a.Key, Want: a.Want, Budget: a.Budget,
		Within: max(0, a.Deadline-now), Hops: a.Hops, Visited: a.Visited,
	}))
}

func namesBytes(a routing.Answer) int {
	n := Overhead + 2 + 8
	for _, r := range a.Records {
		n += len(r.Peer) + len(r.Envelope) + 8
	}
	return n
}

// receive takes in a message.
func (v *vennPeer) receive(now time.Duration, from ID, m Message) {
	p := peerID(from)
	switch b := m.Body.(type) {
	case graft:
		v.grafted(now, from, b.in)
	case overlay.Hello:
		v.step(now, overlay.HelloReceived{Peer: p, Hello: b})
	case []overlay.Item:
		v.step(now, overlay.CatalogueReceived{From: p, Items: b, Bytes: m.Bytes})
	case vennParts:
		v.step(now, b.received(p, overlay.Pubsub, m.Bytes))
	case vennRequest:
		in := b.parts
		in.From, in.Request = p, b.number
		v.step(now, in)
	case vennAnswer:
		v.partsAnswered(now, p, b, m.Bytes)
	case vennInquiry:
		if v.older {
			v.send(from, vennUnknown(b), Overhead+vennUnknownBytes, 0)
			return
		}
		v.step(now, overlay.PeersAsked{From: p, Inquiry: b.inquiry})
	case vennUnknown:
		v.step(now, overlay.PeersSilent{From: p})
	case vennIntroduced:
		v.step(now, overlay.PeersNamed{From: p, Names: b.names})
	case vennTails:
		v.step(now, tails.Received{From: p, Items: b})
	case vennHave:
		has := v.host.Look(m.Query, parseKey(b.key))
		v.send(from, vennHas{b.query, has, b.sent}, vennHasBytes, m.Query)
	case vennHas:
		v.step(now, routing.Confirmed{ID: b.query, Peer: p, Has: b.has, RTT: now - b.sent})
	case vennAudit:
		if !v.older {
			v.audited(from, b)
		}
	case vennAudited:
		v.step(now, overlay.Outcome{Peer: p, Hits: b.hits, Misses: b.misses})
	case vennAsk:
		v.serve(now, from, m.Query, b)
	case vennNames:
		v.named(now, p, b)
	}
}

func (p vennParts) received(from overlay.PeerID, way overlay.Way, bytes int) overlay.PartsReceived {
	return overlay.PartsReceived{
		From: from, Way: way, Group: p.group, Envelope: p.envelope, Record: p.record, Run: p.run, Delta: p.delta, Bytes: bytes,
	}
}

func (v *vennPeer) partsAnswered(now time.Duration, from overlay.PeerID, b vennAnswer, bytes int) {
	asked, ok := v.pending[b.number]
	if !ok {
		return
	}
	delete(v.pending, b.number)
	if b.refused {
		v.step(now, overlay.FetchFailed{From: from, Group: asked.group})
		return
	}
	b.parts.group = asked.group
	v.step(now, b.parts.received(from, overlay.Direct, bytes))
}

// serve lets the machine answer another's question. One that is forwarded here is for us to look into our collection too.
func (v *vennPeer) serve(now time.Duration, from ID, q QueryID, b vennAsk) {
	in := b.asked
	v.served++
	in.From, in.Request = peerID(from), v.served
	v.serving[in.Request] = served{from: from, number: b.number, query: q}
	if in.Kind == routing.Search {
		v.host.Look(q, parseKey(in.Key))
	}
	for _, e := range v.machine.Step(now, in) {
		v.belongs(e, in.Request, q)
		v.do(now, e)
	}
}

// belongs notes which query of the run a search is for that the machine has just opened.
func (v *vennPeer) belongs(e core.Effect, request uint64, q QueryID) {
	var id routing.QueryID
	switch e := e.(type) {
	case routing.Confirm:
		id = e.ID
	case routing.AskCandidates:
		id = e.ID
	case routing.Forward:
		id = e.ID
	}
	if _, known := v.queries[id]; !known && id >= routing.MaxQueryID {
		v.queries[id] = vennQuery{id: q}
		if s, open := v.serving[request]; open {
			s.search = id
			v.serving[request] = s
		}
	}
}

// named takes in an answer to a question of ours.
func (v *vennPeer) named(now time.Duration, from overlay.PeerID, b vennNames) {
	asked, ok := v.pending[b.number]
	if !ok {
		return
	}
	if b.answer.Final {
		delete(v.pending, b.number)
	}
	v.learned(asked.query, b)
	if asked.kind == namesKind {
		v.step(now, routing.CandidatesReceived{ID: asked.query, From: from, Records: b.answer.Records, Messages: b.answer.Messages, Depth: b.answer.Depth})
		return
	}
	v.step(now, routing.ForwardReturned{
		ID: asked.query, From: from, Providers: b.answer.Records, Messages: b.answer.Messages, Final: b.answer.Final,
	})
}

// learned notes over how many hops names came.
func (v *vennPeer) learned(id routing.QueryID, b vennNames) {
	q, ok := v.queries[id]
	if !ok {
		return
	}
	if q.hops == nil {
		q.hops = map[ID]int{}
		v.queries[id] = q
	}
	for i, r := range b.answer.Records {
		if p := idOf(r.Peer); q.hops[p] == 0 {
			q.hops[p] = 1 + b.hops[i]
		}
	}
}

// route carries out an effect of the query machine.
func (v *vennPeer) route(now time.Duration, e core.Effect) {
	switch e := e.(type) {
	case routing.Confirm:
		v.send(idOf(e.To.Peer), vennHave{e.ID, e.Key, now}, vennHaveBytes, v.queries[e.ID].id)
	case routing.AskCandidates:
		v.askNames(now, e.ID, idOf(e.To), namesKind, routing.Asked{
			Kind: routing.Candidates, Key: e.Key, Fingerprint: e.Fingerprint, Mode: e.Mode,
		})
	case routing.Forward:
		v.askNames(now, e.ID, idOf(e.To), searchKind, routing.Asked{
			Kind: routing.Search, Nonce: e.Nonce, Origin: e.Origin, Key: e.Key, Fingerprint: e.Fingerprint, Mode: e.Mode,
			Want: e.Want, Budget: e.Budget, Deadline: e.Deadline, Hops: e.Hops, Visited: e.Visited,
		})
	case routing.Answer:
		v.answer(e)
	case routing.Found:
		q, p := v.queries[e.ID], idOf(e.Provider.Peer)
		v.host.Found(q.id, p, max(1, q.hops[p]))
		v.notes.found(e.ID, p)
	case routing.Done:
		v.host.Done(v.queries[e.ID].id)
		delete(v.queries, e.ID)
		v.notes.ended(now, e)
	}
}

func (v *vennPeer) askNames(now time.Duration, id routing.QueryID, to ID, kind vennKind, a routing.Asked) {
	n := v.ask(pending{query: id, to: to, kind: kind})
	v.send(to, vennAsk{n, id, a}, askBytes(a, now), v.queries[id].id)
}

// hops is how many it is from here to each of the peers named in an answer: none to ourselves, one to a peer that was known here.
func (v *vennPeer) hops(search routing.QueryID, named []overlay.Record) []int {
	hops := make([]int, len(named))
	for i, r := range named {
		if p := idOf(r.Peer); p != v.host.Self() {
			hops[i] = max(1, v.queries[search].hops[p])
		}
	}
	return hops
}

func (v *vennPeer) answer(e routing.Answer) {
	s, ok := v.serving[e.Request]
	if !ok {
		return
	}
	v.send(s.from, vennNames{s.number, e, v.hops(s.search, e.Records)}, namesBytes(e), s.query)
	if e.Final {
		delete(v.serving, e.Request)
		delete(v.queries, s.search)
	}
}
