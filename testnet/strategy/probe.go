package strategy

// prober asks peers whether they hold the key of an own query, and answers those who ask: for strategies that know candidates.
// For one holder it asks them one after the other, for all holders all at once.
type prober struct {
	host Host
	open map[QueryID]*probing
	most int // peers that a query may ask; 0: no bound
	// over is told of a query whose candidates have all been asked. nil: that is all that is done for it.
	over func(q Query, found bool)
	// gone is told of a peer that couldn't be reached. nil: nobody wants to know.
	gone func(ID)
}

type probing struct {
	query   Query
	asked   int
	hops    int
	rest    []ID // to be asked yet
	waiting int  // for answers
	found   bool
}

// haveAsk asks whether a peer holds a key; haveAnswer is its answer.
type (
	haveAsk    struct{ key Key }
	haveAnswer struct{ has bool }
)

const (
	haveAskBytes    = Overhead + KeyBytes + 2
	haveAnswerBytes = Overhead + 3
)

func newProber(h Host) prober { return prober{host: h, open: map[QueryID]*probing{}} }

// start asks candidates in their order. Who is found was got to know over so many hops.
func (p *prober) start(q Query, candidates []ID, hops int) {
	p.open[q.ID] = &probing{query: q, hops: hops, rest: candidates}
	p.next(q.ID)
}

// more adds candidates to a query that is open; false: it is not.
func (p *prober) more(q QueryID, candidates []ID, hops int) bool {
	o, open := p.open[q]
	if open {
		o.rest, o.hops = append(o.rest, candidates...), hops
		p.next(q)
	}
	return open
}

// next asks whoever is due, or ends the query.
func (p *prober) next(q QueryID) {
	o := p.open[q]
	for len(o.rest) > 0 && (o.query.All || o.waiting == 0 && !o.found) && (p.most == 0 || o.asked < p.most) {
		p.host.Send(o.rest[0], Message{Body: haveAsk{o.query.Key}, Bytes: haveAskBytes, Query: q})
		o.rest = o.rest[1:]
		o.asked++
		o.waiting++
	}
	if o.waiting > 0 {
		return
	}
	delete(p.open, q)
	if p.over != nil {
		p.over(o.query, o.found)
		return
	}
	p.host.Done(q)
}

// step takes in what concerns it; false: that is for another.
func (p *prober) step(in Input) bool {
	switch in := in.(type) {
	case Received:
		switch b := in.Message.Body.(type) {
		case haveAsk:
			has := p.host.Look(in.Message.Query, b.key)
			p.host.Send(in.From, Message{Body: haveAnswer{has}, Bytes: haveAnswerBytes, Query: in.Message.Query})
			return true
		case haveAnswer:
			p.answered(in.Message.Query, in.From, b.has)
			return true
		}
	case Failed:
		switch in.Message.Body.(type) {
		case haveAsk:
			if p.gone != nil {
				p.gone(in.To)
			}
			p.answered(in.Message.Query, in.To, false)
			return true
		case haveAnswer:
			return true
		}
	}
	return false
}

func (p *prober) answered(q QueryID, from ID, has bool) {
	o, open := p.open[q]
	if !open {
		return
	}
	o.waiting--
	if has {
		o.found = true
		p.host.Found(q, from, o.hops)
	}
	p.next(q)
}
