package overlay

import (
	"time"

	"github.com/venn-p2p/venn/summary"
)

// trade is one round of the exchange with all links: what we ask for, what we announce, what we send.
func (o *Overlay) trade(now time.Duration) {
	asks := o.planAsks(now)
	ownTo, own := o.announceOwn(now)
	n := len(o.order)
	for k := range n {
		l := o.order[(o.turn+k)%n]
		if !l.heard {
			continue
		}
		items := asks[l.peer]
		if l == ownTo {
			items = append(items, own...)
		}
		if l.mesh {
			items = append(items, o.announcements(now, l)...)
		}
		o.sendCatalogue(l, items)
		o.serve(l, 0, 0)
	}
	for k := range n {
		if l := o.order[(o.turn+k)%n]; l.heard && (!o.copying() || o.up.spare()) {
			o.serve(l, 1, 2)
		}
	}
	o.answerRequests(now)
	o.turn++
}

func (o *Overlay) sendCatalogue(l *link, items []Item) {
	for len(items) > 0 {
		batch := items[:min(len(items), maxCatalogue)]
		items = items[len(batch):]
		o.emit(SendCatalogue{To: l.peer, Items: batch})
		o.charge(l, CatalogueBytes(len(batch)))
	}
}

// onCatalogue takes in what a mesh peer holds and asks for.
func (o *Overlay) onCatalogue(now time.Duration, in CatalogueReceived) {
	l, ok := o.links[in.From]
	if !ok {
		return
	}
	o.down.take(in.Bytes)
	o.received += uint64(in.Bytes)
	for _, it := range in.Items {
		e := o.add(l, it.Group.OriginTag())
		if e == nil || e.banned {
			continue
		}
		if o.isOwn(e) && e.unpublished(it) {
			o.fault(l, FaultCatalogue)
			return
		}
		o.heard(l, e, it)
		if it.Want > it.Have {
			o.enqueue(l, e, it)
		}
	}
	o.up.refill(now)
	l.out.refill(now)
	if l.heard && o.up.spare() {
		o.serve(l, 0, 2)
	}
}

// heard notes what a peer says it holds of an origin.
func (o *Overlay) heard(l *link, e *entry, it Item) {
	t, epoch := l.trade(e.index), it.Group.Epoch()
	if e.ask.peer == l.peer && e.ask.way == Pubsub && epoch.After(e.ask.epoch) && it.Have > 0 {
		o.endAsk(e) // it can't send what it has replaced
		b := l.blame(e.index)
		if b.failures > 0 {
			o.failed(o.now, l, e) // again and again
		}
		b.failures = max(1, b.failures)
	}
	if ep, _ := e.epoch(); epoch.After(ep) && !e.newerThan.After(ep) {
		e.newerSince, e.newerThan = o.now, epoch
	}
	if t.claims(epoch, it.Have) {
		e.quiet, o.planAt = 0, 0
	}
	if it.Want <= it.Have && t.theirs == epoch {
		t.bases = it.Bases
	}
}

// unpublished says whether an item speaks of an epoch of our own that we never published. Before the first of this run it may be
// of an earlier one.
func (e *entry) unpublished(it Item) bool {
	if e.cur == nil {
		return false
	}
	ep, parts := e.epoch()
	at := it.Group.Epoch()
	return at.After(ep) || at == ep && int(max(it.Have, it.Want)) > parts
}

// enqueue notes an ask. An ask for an epoch that is no longer held is forgotten: the peer will hear of the newer one.
func (o *Overlay) enqueue(l *link, e *entry, it Item) {
	if e.at(it.Group.Epoch()) == nil {
		return
	}
	w := l.wants[e.index]
	if w == nil {
		if len(l.queue) >= maxAsks {
			o.fault(l, FaultTooManyAsk)
			return
		}
		if l.wants == nil {
			l.wants = map[int]*want{}
		}
		w = &want{}
		l.wants[e.index] = w
		l.queue = append(l.queue, e.index)
	}
	*w = want{of: it.Group.Epoch(), from: it.Have, end: it.Want, bases: it.Bases, at: o.now}
}

// serve sends a link the parts that it asked for, as far as its budget and the line's carry: class by class, in the order of
// asking within a class.
func (o *Overlay) serve(l *link, first, last int) {
	for class := first; class <= last; class++ {
		kept := l.queue[:0]
		for _, i := range l.queue {
			if w := l.wants[i]; w != nil && w.class(i) == class {
				for o.servePart(l, i, w) && l.hello.Down == 0 { // a train
				}
			}
			if l.wants[i] != nil {
				kept = append(kept, i)
			}
		}
		l.queue = kept
	}
}

// class ranks what is asked: 0 our own summary, which nobody else can send first, 1 a sample of another's or a delta, 2 deeper
// parts.
func (w *want) class(index int) int {
	switch {
	case index == 0:
		return 0
	case w.from == 0 || w.bases != 0:
		return 1
	}
	return 2
}

// servePart sends one run of what a link wants of one origin, and forgets the want when nothing is left of it. It says
// whether it sent a run and something is left.
func (o *Overlay) servePart(l *link, i int, w *want) (more bool) {
	var p *summary.Prefix
	e := o.entries[i]
	if e != nil {
		p = e.at(w.of)
	}
	if p == nil || int(w.from) >= p.Parts() || o.now-w.at >= staleAsk {
		delete(l.wants, i)
		return false
	}
	end := min(int(w.end), p.Parts())
	if w.bases != 0 {
		if o.serveDelta(l, e, p, w, end) != partsInstead {
			return false
		}
		w.bases = 0
	}
	run, env, rec, ok := o.cut(l, e, p, int(w.from), end)
	if !ok {
		return false
	}
	if i == 0 {
		o.copies.taken(o.now, run.End())
	}
	o.sendParts(l, SendParts{To: l.peer, Group: summary.NewGroupID(e.tag, w.of), Envelope: env, Record: rec, Run: run})
	o.charge(l, RunBytes(run, env, rec))
	w.from, w.at = uint16(run.End()), o.now
	l.trade(i).claims(w.of, w.from)
	if w.from >= w.end || int(w.from) >= p.Parts() {
		delete(l.wants, i)
		return false
	}
	return true
}

// cut takes from a prefix the longest run from..end-1 that fits the budgets of the link and of the line and one message.
// A run from part 0 brings the signed header and the origin's record. ok is false when not even one part fits now.
func (o *Overlay) cut(l *link, e *entry, p *summary.Prefix, from, end int) (run summary.Run, env, rec []byte, ok bool) {
	if from == 0 {
		env, rec = o.envelopeOf(e, p), e.record.Envelope
	}
	most := maxRunBytes
	if l.hello.Down == 0 {
		most = trainRun
	}
	fixed := rpcOverhead + runOverhead + len(env) + len(rec)
	plan := p.Plan()
	fits := func(to int) bool {
		n := fixed + plan.EncodedBytes(to) - plan.EncodedBytes(from) + 3*(to-from)
		if to == from+1 {
			return l.out.allowsWhole(n) && o.up.allowsWhole(n)
		}
		return n <= most && l.out.allows(n) && o.up.allows(n)
	}
	to := from + 1
	if !fits(to) {
		return run, nil, nil, false
	}
	for to < end && fits(to+1) {
		to++
	}
	run, err := p.Run(from, to)
	return run, env, rec, err == nil
}

// envelopeOf returns the signed header of a prefix: only the newest epoch's is kept beside the prefixes themselves.
func (o *Overlay) envelopeOf(e *entry, p *summary.Prefix) []byte {
	if p == e.newest() {
		return e.envelope
	}
	return e.oldEnvelope
}

// request is a direct request that waits for budget.
type request struct {
	in    PartsRequested
	until time.Duration
}

const (
	maxRequests = 64              // direct requests that wait at a time
	requestWait = 5 * time.Second // how long one may wait for budget
)

func (o *Overlay) onRequest(now time.Duration, in PartsRequested) {
	if len(o.requests) >= maxRequests || in.First < 0 || in.End <= in.First {
		o.refuse(in)
		return
	}
	o.requests = append(o.requests, request{in, now + requestWait})
	o.answerRequests(now)
}

func (o *Overlay) refuse(in PartsRequested) {
	o.emit(AnswerParts{To: in.From, Request: in.Request, Refused: true})
}

// answerRequests answers the direct requests that the budgets allow, and refuses those that have waited too long.
func (o *Overlay) answerRequests(now time.Duration) {
	kept := o.requests[:0]
	for _, r := range o.requests {
		switch done := o.answer(r.in); {
		case done:
		case now >= r.until:
			o.refuse(r.in)
		default:
			kept = append(kept, r)
		}
	}
	o.requests = kept
}

// answer tries to answer one direct request; false when it must wait for the peer's hello or for budget.
func (o *Overlay) answer(in PartsRequested) bool {
	var p *summary.Prefix
	i, known := o.byTag[in.Group.OriginTag()]
	if known {
		p = o.entries[i].at(in.Group.Epoch())
	}
	if p == nil || in.First >= p.Parts() || i == 0 && o.copying() && in.First < o.copies.end {
		o.refuse(in)
		return true
	}
	l, ok := o.links[in.From]
	if !ok || !l.heard {
		return false
	}
	if s := o.answerDelta(l, o.entries[i], p, in); s != partsInstead {
		return s == deltaGoes
	}
	run, env, rec, ok := o.cut(l, o.entries[i], p, in.First, min(in.End, p.Parts()))
	if !ok {
		return false
	}
	if i == 0 {
		o.copies.taken(o.now, run.End())
	}
	o.emit(AnswerParts{To: in.From, Request: in.Request, Envelope: env, Record: rec, Run: run})
	o.charge(l, RunBytes(run, env, rec))
	return true
}
