package strategy

import "slices"

// Prober asks peers whether they hold the key of its own peer's query, and answers other peers' questions. For one
// holder it asks one candidate after the other, for all holders it asks all at once.
type Prober struct {
	host Host
	open map[QueryID]*probing
	Most int // largest number of peers that a query asks; 0: no bound
	// Over is called when all candidates of a query have answered or failed. nil: the Prober calls Host.Done
	// instead.
	Over func(q Query, found bool)
	// Gone is called with a peer that could not be reached; nil: it is not called.
	Gone func(ID)
}

type probing struct {
	query   Query
	asked   int
	hops    int
	rest    []ID // candidates that were not asked yet
	waiting []ID // peers asked whose answer is awaited
	found   bool
}

type (
	// Ask asks a peer whether it holds a key.
	Ask struct{ Key Key }
	// Answer answers an Ask.
	Answer struct{ Has bool }
)

// Sizes of Ask and Answer, in bytes.
const (
	AskBytes    = Overhead + KeyBytes + 2
	AnswerBytes = Overhead + 3
)

// NewProber returns a Prober without queries.
func NewProber(h Host) Prober { return Prober{host: h, open: map[QueryID]*probing{}} }

// Start begins a query: it asks the candidates in their order. hops is the number of hops over which the query
// learned of them.
func (p *Prober) Start(q Query, candidates []ID, hops int) {
	p.open[q.ID] = &probing{query: q, hops: hops, rest: candidates}
	p.next(q.ID)
}

// More adds candidates to an open query. It returns false if the query is not open.
func (p *Prober) More(q QueryID, candidates []ID, hops int) bool {
	o, open := p.open[q]
	if open {
		o.rest, o.hops = append(o.rest, candidates...), hops
		p.next(q)
	}
	return open
}

// Asking reports whether a query is open: it still waits for answers.
func (p *Prober) Asking(q QueryID) bool { return p.open[q] != nil }

// next asks the candidates that are due. If no answer is awaited, it ends the query.
func (p *Prober) next(q QueryID) {
	o := p.open[q]
	for len(o.rest) > 0 && (o.query.All || len(o.waiting) == 0 && !o.found) && (p.Most == 0 || o.asked < p.Most) {
		p.host.Send(o.rest[0], Message{Body: Ask{o.query.Key}, Bytes: AskBytes, Query: q})
		o.waiting = append(o.waiting, o.rest[0])
		o.rest = o.rest[1:]
		o.asked++
	}
	if len(o.waiting) > 0 {
		return
	}
	delete(p.open, q)
	if p.Over != nil {
		p.Over(o.query, o.found)
		return
	}
	p.host.Done(q)
}

// Step handles an input that is for the Prober. It returns false for other inputs.
func (p *Prober) Step(in Input) bool {
	switch in := in.(type) {
	case Received:
		switch b := in.Message.Body.(type) {
		case Ask:
			has := p.host.Look(in.Message.Query, b.Key)
			p.host.Send(in.From, Message{Body: Answer{has}, Bytes: AnswerBytes, Query: in.Message.Query})
			return true
		case Answer:
			p.answered(in.Message.Query, in.From, b.Has)
			return true
		}
	case Failed:
		switch in.Message.Body.(type) {
		case Ask:
			if p.Gone != nil {
				p.Gone(in.To)
			}
			p.answered(in.Message.Query, in.To, false)
			return true
		case Answer:
			return true
		}
	}
	return false
}

// answered handles a peer's first answer, or the failure to reach it.
func (p *Prober) answered(q QueryID, from ID, has bool) {
	o, open := p.open[q]
	if !open {
		return
	}
	at := slices.Index(o.waiting, from)
	if at < 0 {
		return
	}
	o.waiting = slices.Delete(o.waiting, at, at+1)
	if has {
		o.found = true
		p.host.Found(q, from, o.hops)
	}
	p.next(q)
}
