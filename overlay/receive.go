package overlay

import (
	"cmp"
	"errors"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// publish takes in a new epoch of our own.
func (o *Overlay) publish(now time.Duration, in Published) {
	e := o.entries[0]
	if s := in.Stream.Header().Seed; s != o.cfg.Seed {
		if o.previous == nil || s != o.previous.tag {
			return // it comes too late
		}
		e = o.entries[o.owns-1]
	}
	e.oldEnvelope, e.envelope = e.envelope, in.Envelope
	if string(e.record.Envelope) != string(in.Record) {
		e.record, e.recordSince = Record{Peer: o.cfg.Self, Envelope: in.Record}, in.Stream.Header().Epoch
	}
	o.keepBase(now, e, e.cur)
	e.cur, e.since, e.grown = in.Stream.Prefix(), now, now
	o.renewed(e)
	o.estimate = true
	if e.old {
		o.previous.overlap.SetOwn(e.cur)
		o.toTell(e)
	} else {
		o.ownTurn = now
		o.copies = copies{}
		o.overlap.SetOwn(e.cur)
	}
	for _, other := range o.others() {
		if other != nil && other.old == e.old {
			other.outdateShare(now)
		}
	}
}

// outdateShare has the overlap estimated anew after a new epoch of either side, unless that was done of late.
func (e *entry) outdateShare(now time.Duration) {
	if now >= e.shareUntil {
		e.shareParts, e.shareUntil = 0, now+shareKept
	}
}

// onParts verifies a run or a delta that came and takes it in.
func (o *Overlay) onParts(now time.Duration, in PartsReceived) {
	l := o.links[in.From]
	if l != nil {
		o.down.take(in.Bytes)
		o.received += uint64(in.Bytes)
		if in.Way == Pubsub {
			l.inTrain.came(cmp.Or(in.Came, now), in.Bytes, in.More)
		}
	}
	if in.Way == Message {
		l = nil // who passed it on need not hold it
	}
	e := o.asked(l, in)
	if e == nil {
		return
	}
	mine := e.ask.peer == in.From && e.ask.epoch == in.Group.Epoch()
	if mine {
		o.release(e) // what was foreseen; what came is counted above
	}
	end, grew, fault := o.extend(now, e, in)
	switch {
	case fault == FaultTwin: // the origin's fault: whoever passed it on could not know
		o.emit(Report{Peer: e.peer, Fault: fault})
	case fault == FaultDelta || fault == "" && in.Delta != nil && !grew: // parts are asked for instead
		if fault != "" {
			o.emit(Report{Peer: in.From, Fault: fault})
		}
		if mine {
			o.endAsk(e)
		}
	case fault != "":
		o.emit(Report{Peer: in.From, Fault: fault})
		if mine {
			o.endAsk(e)
		}
		o.shun(l, e, now+12*shunFor)
	case mine:
		o.progress(now, l, e, end)
	}
	if grew {
		if l != nil {
			l.trade(e.index).claims(in.Group.Epoch(), uint16(end))
			l.kept(e)
		}
	}
}

// shun leaves a link unasked about an origin for a while, and forgets what it claimed to hold of it.
func (o *Overlay) shun(l *link, e *entry, until time.Duration) {
	if l != nil {
		l.blame(e.index).shunned = until
		l.trade(e.index).have = 0
		l.untold.add(e.index)
	}
}

// asked finds the entry that a run is for. A run of an origin about which the sender was never asked is refused, unless it
// came as an ordinary message.
func (o *Overlay) asked(l *link, in PartsReceived) *entry {
	i, known := o.byTag[in.Group.OriginTag()]
	if in.Way == Message {
		if from := o.links[in.From]; from != nil {
			if e := o.add(from, in.Group.OriginTag()); e != nil && !o.isOwn(e) && !e.banned {
				return e
			}
		}
		return nil
	}
	if known && i >= o.owns && !o.entries[i].banned {
		e := o.entries[i]
		var oldest summary.Epoch
		asked := false
		if l != nil {
			oldest, asked = l.asked[i]
		}
		switch {
		case asked && oldest.After(in.Group.Epoch()):
			o.emit(Report{Peer: in.From, Fault: FaultReplay})
			return nil
		case asked || e.ask.peer == in.From:
			return e
		}
	}
	o.emit(Report{Peer: in.From, Fault: FaultUnasked})
	return nil
}

// extend verifies the header (when the epoch is new here) and the run or delta, and takes them in. end is how far it reached.
func (o *Overlay) extend(now time.Duration, e *entry, in PartsReceived) (end int, grew bool, fault Fault) {
	if in.Delta != nil && len(in.Record) == 0 {
		in.Record = e.record.Envelope
	}
	ep, _ := e.epoch()
	base := e.at(in.Group.Epoch())
	switch {
	case base != nil && len(in.Envelope) > 0 && string(in.Envelope) != string(o.envelopeOf(e, base)):
		if fault := o.compare(base, in.Envelope); fault == FaultTwin {
			o.ban(e)
			return 0, false, fault
		} else if fault != "" {
			return 0, false, fault
		}
	case base == nil && (in.Run.First > 0 || ep.After(in.Group.Epoch()) || !in.Group.Epoch().After(e.past)):
		return in.Run.End(), false, "" // overtaken on the way: by a newer epoch, or by forgetting
	case base == nil:
		var err Fault
		if base, err = o.open(e, in); base == nil {
			return 0, false, err
		}
	}
	p, fault := o.lengthen(now, e, base, in)
	if p == nil {
		return in.Run.End(), false, fault
	}
	if p.Parts() > base.Parts() {
		o.install(now, e, p, in)
		return p.Parts(), true, ""
	}
	return p.Parts(), false, ""
}

// lengthen verifies a run or a delta and returns the longer prefix: nil if there is none, for which nobody may be at fault.
func (o *Overlay) lengthen(now time.Duration, e *entry, base *summary.Prefix, in PartsReceived) (*summary.Prefix, Fault) {
	if in.Delta != nil {
		return o.onDelta(now, e, base, in)
	}
	if in.Run.First > base.Parts() {
		return nil, "" // a run before it was lost or is still on its way
	}
	p, err := o.cfg.Extend(base, in.Run)
	if err != nil {
		return nil, FaultChain
	}
	return p, ""
}

// open verifies the signed header and the record that came with an epoch that is new here.
func (o *Overlay) open(e *entry, in PartsReceived) (*summary.Prefix, Fault) {
	h, err := o.cfg.OpenHeader(in.Envelope)
	switch {
	case errors.Is(err, summary.ErrSeed) || err == nil && h.Seed.Network != o.cfg.Seed.Network:
		return nil, FaultSeed
	case err != nil:
		return nil, FaultHeader
	case h.Group() != in.Group || e.peer != "" && string(e.peer) != h.Origin:
		return nil, FaultGroup
	case !o.accepts(h.Seed):
		o.disown(e)
		return nil, ""
	}
	p, err := o.cfg.OpenRecord(in.Record)
	if err != nil || string(p) != h.Origin {
		return nil, FaultRecord
	}
	if !o.joinGroup(e, Record{Peer: p, Envelope: in.Record}) {
		return nil, ""
	}
	base, err := o.cfg.NewPrefix(&h)
	if err != nil {
		return nil, FaultHeader
	}
	return base, ""
}

// compare opens an envelope that comes for an epoch of which p is held, but is not its header: it may be the same header signed
// again.
func (o *Overlay) compare(p *summary.Prefix, envelope []byte) Fault {
	h, err := o.cfg.OpenHeader(envelope)
	held := p.Header()
	switch {
	case err != nil:
		return FaultHeader
	case h.Origin != held.Origin || h.Epoch != held.Epoch:
		return FaultGroup
	case h.Seed != held.Seed || h.N != held.N || !h.Shape.Equal(held.Shape) || h.Chain != held.Chain:
		return FaultTwin
	}
	return ""
}

// ban drops all that is held of an origin that signed two summaries under one epoch, and remembers it.
func (o *Overlay) ban(e *entry) {
	for _, e := range []*entry{e, o.sibling(e)} {
		if e != nil {
			o.settle(e)
			o.drop(e)
			e.banned = true
		}
	}
}

// install puts a longer prefix in its place: the answering one, unless an older epoch still answers better.
func (o *Overlay) install(now time.Duration, e *entry, p *summary.Prefix, in PartsReceived) {
	h := p.Header()
	ep, _ := e.epoch()
	e.old = h.Seed != o.cfg.Seed
	first := e.cur == nil
	if first && o.standsAlone(e) {
		o.origins++
		o.lastLearned = now
	}
	records := e.recordBytes()
	if h.Epoch.After(ep) {
		e.peer = PeerID(h.Origin)
		o.settle(e)
		if e.next == nil {
			e.oldEnvelope = e.envelope
		}
		e.envelope = in.Envelope
		if string(e.record.Envelope) != string(in.Record) {
			e.record, e.recordSince = Record{Peer: e.peer, Envelope: in.Record}, h.Epoch
		}
		e.dialFails, e.since, e.expires = 0, now, now+h.Lifetime
		e.outdateShare(now)
		e.fade(now, fadeAgain)
		o.renewed(e)
	}
	fallback := in.Delta == nil && e.cur != nil && h.Epoch.After(ep)
	o.countRecords(e, records)
	before := prefixMemory(e.cur) + prefixMemory(e.next)
	old := e.at(h.Epoch)
	var replaced *summary.Prefix
	switch {
	case e.cur == nil || old == e.cur && old != nil && e.next == nil:
		e.cur = p
	case old == e.cur && old != nil:
		e.cur = p // deeper, while a newer one is coming
	case p.FalsePositiveRate() <= e.cur.FalsePositiveRate() || p.Parts() >= min(e.cur.Parts(), p.Plan().Parts()):
		replaced = e.cur
		e.cur, e.next = p, nil
	default:
		e.next = p
	}
	o.held += prefixMemory(e.cur) + prefixMemory(e.next) - before
	o.keepBase(now, e, replaced)
	o.setAnswer(e)
	if first {
		o.tellSibling(e)
	}
	e.grown = now
	o.changed(e)
	gained, delta := p.EncodedBytes(), 0
	if old != nil {
		gained -= old.EncodedBytes()
	}
	if in.Delta != nil {
		delta = in.Bytes
	}
	o.emit(Learned{Origin: e.peer, Epoch: h.Epoch, Parts: p.Parts(), Way: in.Way, Bytes: gained, Delta: delta, Fallback: fallback})
}

// renewed notes that there is a newer epoch of an origin, of which nobody has been told.
func (o *Overlay) renewed(e *entry) {
	for _, l := range o.order {
		l.trades.renewed(e.index)
	}
}

// changed notes that there is more to tell, to plan and to estimate of an origin.
func (o *Overlay) changed(e *entry) {
	o.toTell(e)
	e.quiet, o.planAt, o.sigma, o.estimate = 0, 0, unknownSigma, true
	o.expireAt = min(o.expireAt, e.expires)
	o.compactAt = min(o.compactAt, o.now+compactAfter)
}

// toTell notes that all links may have to be told of an origin.
func (o *Overlay) toTell(e *entry) {
	for _, l := range o.order {
		l.untold.add(e.index)
	}
}

// progress moves the outstanding ask forward, or ends it.
func (o *Overlay) progress(now time.Duration, l *link, e *entry, end int) {
	p := e.newest()
	if end >= e.ask.end || e.ask.way == Direct || l == nil || p == nil {
		o.endAsk(e)
		return
	}
	plan := p.Plan()
	o.reserve(l, e, plan.EncodedBytes(e.ask.end)-plan.EncodedBytes(end))
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
