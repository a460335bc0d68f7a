package overlay

import (
	"errors"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// publish takes in a new epoch of our own.
func (o *Overlay) publish(now time.Duration, in Published) {
	e := o.entries[0]
	e.oldEnvelope, e.envelope = e.envelope, in.Envelope
	e.record = Record{Peer: o.cfg.Self, Envelope: in.Record}
	e.cur, e.since, e.grown = in.Stream.Prefix(), now, now
	o.ownTurn = now
	o.copies = copies{}
	for _, other := range o.entries[1:] {
		if other != nil {
			other.shareParts = 0 // overlap with the old epoch
		}
	}
}

// onParts verifies a run that came and takes it in.
func (o *Overlay) onParts(now time.Duration, in PartsReceived) {
	l := o.links[in.From]
	if l != nil {
		o.down.take(in.Bytes)
	}
	e := o.asked(l, in)
	if e == nil {
		return
	}
	mine := e.ask.peer == in.From && e.ask.epoch == in.Group.Epoch()
	if mine {
		o.release(e) // what was foreseen; what came is counted above
	}
	grew, fault := o.extend(now, e, in)
	switch {
	case fault != "":
		o.emit(Report{Peer: in.From, Fault: fault})
		if mine {
			o.endAsk(e)
		}
		o.shun(l, e, now+12*shunFor)
	case mine:
		o.progress(now, l, e, in.Run.End())
	}
	if grew {
		if l != nil {
			l.trade(e.index).claims(in.Group.Epoch(), uint16(in.Run.End()))
		}
		o.shed()
	}
}

// shun leaves a link unasked about an origin for a while, and forgets what it claimed to hold of it.
func (o *Overlay) shun(l *link, e *entry, until time.Duration) {
	if l != nil {
		t := l.trade(e.index)
		t.shunned, t.have = until, 0
	}
}

// asked finds the entry that a run is for. A run of an origin about which the sender was never asked is refused.
func (o *Overlay) asked(l *link, in PartsReceived) *entry {
	i, known := o.byTag[in.Group.OriginTag()]
	if known && i != 0 && !o.entries[i].banned {
		e := o.entries[i]
		if e.ask.peer == in.From || l != nil && l.trade(i).asked {
			return e
		}
	}
	o.emit(Report{Peer: in.From, Fault: FaultUnasked})
	return nil
}

// extend verifies the header (when the epoch is new here) and the run, and takes them in.
func (o *Overlay) extend(now time.Duration, e *entry, in PartsReceived) (grew bool, fault Fault) {
	ep, _ := e.epoch()
	base := e.at(in.Group.Epoch())
	switch {
	case base != nil && len(in.Envelope) > 0 && string(in.Envelope) != string(o.envelopeOf(e, base)):
		if o.isTwin(base, in.Envelope) {
			o.ban(e)
			return false, FaultTwin
		}
	case base == nil && (in.Run.First > 0 || ep.After(in.Group.Epoch())):
		return false, "" // overtaken on the way: by a newer epoch, or by forgetting
	case base == nil:
		var err Fault
		if base, err = o.open(e, in); err != "" {
			return false, err
		}
	}
	if in.Run.First > base.Parts() {
		return false, "" // a run before it was lost or is still on its way
	}
	p, err := o.cfg.Extend(base, in.Run)
	if err != nil {
		return false, FaultChain
	}
	if p.Parts() > base.Parts() {
		o.install(now, e, p, in)
		return true, ""
	}
	return false, ""
}

// open verifies the signed header and the record that came with an epoch that is new here.
func (o *Overlay) open(e *entry, in PartsReceived) (*summary.Prefix, Fault) {
	h, err := o.cfg.OpenHeader(in.Envelope)
	switch {
	case errors.Is(err, summary.ErrSeed) || err == nil && h.Seed != o.cfg.Seed:
		return nil, FaultSeed
	case err != nil:
		return nil, FaultHeader
	case h.Group() != in.Group || e.peer != "" && string(e.peer) != h.Origin:
		return nil, FaultGroup
	}
	if p, err := o.cfg.OpenRecord(in.Record); err != nil || string(p) != h.Origin {
		return nil, FaultRecord
	}
	base, err := summary.NewPrefix(&h)
	if err != nil {
		return nil, FaultHeader
	}
	return base, ""
}

// isTwin says whether an envelope is a valid header of the same epoch as p that promises something else.
func (o *Overlay) isTwin(p *summary.Prefix, envelope []byte) bool {
	h, err := o.cfg.OpenHeader(envelope)
	return err == nil && h.Origin == p.Header().Origin && h.Epoch == p.Header().Epoch && h.Chain != p.Header().Chain
}

// ban drops all that is held of an origin that signed two summaries under one epoch, and remembers it.
func (o *Overlay) ban(e *entry) {
	o.held -= prefixMemory(e.cur) + prefixMemory(e.next)
	if e.cur != nil {
		o.origins--
	}
	e.cur, e.next, e.banned = nil, nil, true
	o.endAsk(e)
}

// install puts a longer prefix in its place: the answering one, unless an older epoch still answers better.
func (o *Overlay) install(now time.Duration, e *entry, p *summary.Prefix, in PartsReceived) {
	h := p.Header()
	ep, _ := e.epoch()
	if e.cur == nil {
		o.origins++
		o.lastLearned = now
	}
	if h.Epoch.After(ep) {
		if e.peer == "" {
			o.name(e, PeerID(h.Origin))
		}
		e.oldEnvelope, e.envelope = e.envelope, in.Envelope
		e.record = Record{Peer: e.peer, Envelope: in.Record}
		e.dialFails, e.since, e.expires = 0, now, now+h.Lifetime
		e.shareParts = 0
	}
	before := prefixMemory(e.cur) + prefixMemory(e.next)
	old := e.at(h.Epoch)
	switch {
	case e.cur == nil || old == e.cur && old != nil && e.next == nil:
		e.cur = p
	case p.Rate() <= e.cur.Rate() || p.Parts() >= min(e.cur.Parts(), p.Plan().Parts()):
		e.cur, e.next = p, nil
	default:
		e.next = p
	}
	o.held += prefixMemory(e.cur) + prefixMemory(e.next) - before
	e.grown, e.quiet = now, 0
	gained := in.Run.Bytes()
	if old != nil {
		gained = p.Bytes() - old.Bytes()
	}
	o.emit(Learned{Origin: e.peer, Epoch: h.Epoch, Parts: p.Parts(), Way: in.Way, Bytes: gained})
}

// progress moves the outstanding ask forward, or ends it.
func (o *Overlay) progress(now time.Duration, l *link, e *entry, end int) {
	p := e.newest()
	if end >= e.ask.end || e.ask.way == Direct || l == nil || p == nil {
		o.endAsk(e)
		return
	}
	plan := p.Plan()
	o.reserve(l, e, plan.Bytes(e.ask.end)-plan.Bytes(end))
	e.ask.deadline = now + askPatience(l)
}

// onFetchFailed notes that a direct fetch brought nothing: the origin is not asked again for a while.
func (o *Overlay) onFetchFailed(now time.Duration, in FetchFailed) {
	i, ok := o.byTag[in.Group.OriginTag()]
	if !ok {
		return
	}
	e := o.entries[i]
	if e.ask.peer == in.From && e.ask.way == Direct {
		o.endAsk(e)
	}
	e.fetchAt = now + refetchAfter + time.Duration(o.cfg.Rand.Int64N(int64(refetchAfter)))
}
