// Package probe asks candidates whether they hold a key: the common part of strategies that know candidates.
package probe

import (
	"slices"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Prober asks peers whether they hold the key of an own query, and answers other peers' questions: for strategies that
// know candidates. For one holder it asks one candidate after the other, for all holders all at once.
type Prober struct {
	host strategy.Host
	open map[strategy.QueryID]*probing
	Most int // peers that a query may ask; 0: no bound
	// Over receives a query whose candidates have all been asked. nil: that is all that is done for it.
	Over func(q strategy.Query, found bool)
	// Gone receives a peer that couldn't be reached. nil: nobody wants to know.
	Gone func(strategy.ID)
}

type probing struct {
	query   strategy.Query
	asked   int
	hops    int
	rest    []strategy.ID // to be asked yet
	waiting []strategy.ID // for the answers of these
	found   bool
}

type (
	// Ask asks whether a peer holds a key.
	Ask struct{ Key strategy.Key }
	// Answer is its answer.
	Answer struct{ Has bool }
)

// Sizes of the two.
const (
	AskBytes    = strategy.Overhead + strategy.KeyBytes + 2
	AnswerBytes = strategy.Overhead + 3
)

// New returns a Prober that asks nobody yet.
func New(h strategy.Host) Prober { return Prober{host: h, open: map[strategy.QueryID]*probing{}} }

// Start asks candidates in their order. hops is the number of hops over which the candidates became known.
func (p *Prober) Start(q strategy.Query, candidates []strategy.ID, hops int) {
	p.open[q.ID] = &probing{query: q, hops: hops, rest: candidates}
	p.next(q.ID)
}

// More adds candidates to a query that is open; false: it is not.
func (p *Prober) More(q strategy.QueryID, candidates []strategy.ID, hops int) bool {
	o, open := p.open[q]
	if open {
		o.rest, o.hops = append(o.rest, candidates...), hops
		p.next(q)
	}
	return open
}

// Asking reports whether a query still waits for answers.
func (p *Prober) Asking(q strategy.QueryID) bool { return p.open[q] != nil }

// next asks the peer that is due, or ends the query.
func (p *Prober) next(q strategy.QueryID) {
	o := p.open[q]
	for len(o.rest) > 0 && (o.query.All || len(o.waiting) == 0 && !o.found) && (p.Most == 0 || o.asked < p.Most) {
		p.host.Send(o.rest[0], strategy.Message{Body: Ask{o.query.Key}, Bytes: AskBytes, Query: q})
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

// Step handles its own inputs; false: the input is for another.
func (p *Prober) Step(in strategy.Input) bool {
	switch in := in.(type) {
	case strategy.Received:
		switch b := in.Message.Body.(type) {
		case Ask:
			has := p.host.Look(in.Message.Query, b.Key)
			p.host.Send(in.From, strategy.Message{Body: Answer{has}, Bytes: AnswerBytes, Query: in.Message.Query})
			return true
		case Answer:
			p.answered(in.Message.Query, in.From, b.Has)
			return true
		}
	case strategy.Failed:
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

// answered takes in an answer. It ignores one that comes a second time.
func (p *Prober) answered(q strategy.QueryID, from strategy.ID, has bool) {
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
