package directory

import (
	"errors"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Result is the outcome of a run or a delta that came.
type Result struct {
	End       int            // the run's last part plus one; of a delta, the number of parts held now
	Fault     event.Fault    // fault of the sender, or with [event.FaultTwin] of the origin; "": nobody's
	Unapplied bool           // a delta led to no prefix: parts are to be asked for instead
	Unfit     bool           // the parts do not fit the prefix held, which need not be the sender's fault
	Later     bool           // the header is of a later version, which cannot be read here
	Learned   *event.Learned // what was learned; nil: nothing more is held than before
}

// Take verifies a run or a delta and adds its parts to an entry. The caller has made sure that it was asked for.
func (d *Directory) Take(now time.Duration, e *Entry, in event.PartsReceived) Result {
	if in.Delta != nil && len(in.Record) == 0 {
		in.Record = e.record
	}
	first, end := Span(in.Parts)
	onTheWay := Result{End: end}
	base := e.At(in.Group.Epoch())
	switch {
	case base != nil && len(in.Envelope) > 0 && string(in.Envelope) != string(e.Envelope(base)):
		if fault := d.compare(base, in.Envelope); fault != "" {
			if fault == event.FaultTwin {
				d.ban(now, e)
			}
			return Result{Fault: fault}
		}
	case base == nil && (first > 0 || d.isPast(e, in.Group.Epoch())):
		return onTheWay // a newer epoch is held, or the epoch was forgotten
	case base == nil && len(in.Record) == 0 && in.Delta != nil:
		return Result{Unapplied: true} // its sender believes that we hold the record
	case base == nil:
		var r Result
		if base, r = d.open(now, e, in); base == nil {
			return r
		}
		in.Record = d.newest(e, wire.Record{Peer: wire.PeerID(base.Header().Origin), Envelope: in.Record})
	}
	return d.grow(now, e, base, in)
}

// Span returns the numbers of the parts that a run or a delta brings, first to end-1; 0 and 0 if they cannot be read.
func Span(in wire.Parts) (first, end int) {
	if in.Delta == nil {
		return in.Run.First, in.Run.First + len(in.Run.Parts)
	}
	r, err := summary.ParseRelative(in.Delta)
	if err != nil {
		return 0, 0
	}
	return r.First, r.First + r.Parts
}

// ofOneOrigin reports whether a delta came: a relative run whose base is another epoch of the same origin.
func ofOneOrigin(in event.PartsReceived) bool {
	r, err := summary.ParseRelative(in.Delta)
	return err == nil && wire.GroupID(r.Base).OriginTag() == in.Group.OriginTag()
}

// isPast reports whether an epoch is no later than one that is or was held.
func (d *Directory) isPast(e *Entry, ep summary.Epoch) bool {
	newest, _ := e.Epoch()
	return newest.After(ep) || !ep.After(e.past)
}

// grow extends a prefix by the run or the delta that came, and installs the longer prefix.
func (d *Directory) grow(now time.Duration, e *Entry, base *summary.Prefix, in event.PartsReceived) Result {
	p, r := d.lengthen(e, base, in)
	if p == nil {
		_, r.End = Span(in.Parts)
		return r
	}
	r.End = p.Parts()
	if p.Parts() > base.Parts() {
		r.Learned = d.install(now, e, p, in)
	}
	return r
}

// lengthen verifies a run or a delta and returns the longer prefix; nil if there is none, perhaps by nobody's fault.
func (d *Directory) lengthen(e *Entry, base *summary.Prefix, in event.PartsReceived) (*summary.Prefix, Result) {
	if in.Delta != nil {
		return d.applyDelta(e, base, in)
	}
	if in.Run.First > base.Parts() {
		return nil, Result{} // an earlier run was lost or is still on its way
	}
	p, err := d.cfg.Cache.Extend(base, in.Run)
	if err != nil {
		return nil, e.unfit(in, event.FaultChain)
	}
	return p, Result{}
}

// unfit returns the result for parts that do not fit the prefix held. An origin may sign two summaries under one epoch.
// A peer that holds the other summary passes on parts that fit that summary. So the sender is at fault only if it is
// the origin, or if the signed header came with plain parts.
func (e *Entry) unfit(in event.PartsReceived, fault event.Fault) Result {
	if in.From == e.peer || in.Delta == nil && len(in.Envelope) > 0 {
		return Result{Fault: fault}
	}
	return Result{Unfit: true}
}

// applyDelta brings an origin to a new epoch by a delta. empty is the prefix held of that epoch, perhaps of no parts.
// It is no fault if the base of the delta is no longer held.
func (d *Directory) applyDelta(e *Entry, empty *summary.Prefix, in event.PartsReceived) (*summary.Prefix, Result) {
	p, err := d.applied(empty, in)
	switch {
	case err == nil:
		return p, Result{}
	case errors.Is(err, errBase), errors.Is(err, summary.ErrVersion):
		return nil, Result{Unapplied: true}
	}
	r := e.unfit(in, event.FaultDelta)
	r.Unapplied = true
	return nil, r
}

// applied returns held extended by a relative run. The error is errBase if the run's base is not held or is too large,
// or if parts before the run are missing.
func (d *Directory) applied(held *summary.Prefix, in event.PartsReceived) (*summary.Prefix, error) {
	r, err := summary.ParseRelative(in.Delta)
	if err != nil {
		return nil, err
	}
	base := d.Summary(r.Base, r.BaseParts)
	if base == nil || max(held.Plan().N, base.Plan().N) > MaxDeltaKeys || r.First > held.Parts() {
		return nil, errBase
	}
	return d.cfg.Cache.ExtendRelative(held, base, r)
}

// errBase reports that a relative run's base is not held or is too large, or that parts before the run are missing.
var errBase = errors.New("directory: no such base")

// Summary returns the prefix held of a group, earlier epochs included; nil if fewer than the given number of parts are
// held.
func (d *Directory) Summary(of wire.GroupID, parts int) *summary.Prefix {
	e := d.Tagged(of.OriginTag())
	if e == nil {
		return nil
	}
	for p := range e.prefixes {
		if p.Header().Epoch == of.Epoch() && p.Parts() >= parts {
			return p
		}
	}
	return nil
}

// open verifies the signed header and the record that came with a new epoch. It returns the epoch's prefix of no parts;
// nil if the epoch is refused, perhaps by nobody's fault.
func (d *Directory) open(now time.Duration, e *Entry, in event.PartsReceived) (*summary.Prefix, Result) {
	h, err := d.cfg.OpenHeader(in.Envelope)
	switch {
	case errors.Is(err, summary.ErrVersion):
		return nil, Result{Later: true}
	case errors.Is(err, summary.ErrSeed) || err == nil && h.Seed.Network != d.cfg.Seed.Network:
		return nil, Result{Fault: event.FaultSeed}
	case err != nil:
		return nil, Result{Fault: event.FaultHeader}
	case wire.GroupOf(h) != in.Group || e.peer != "" && string(e.peer) != h.Origin:
		return nil, Result{Fault: event.FaultGroup}
	case !d.accepts(h.Seed):
		d.disown(now, e)
		return nil, Result{}
	}
	p, err := d.cfg.OpenRecord(in.Record)
	if err != nil || string(p) != h.Origin {
		return nil, Result{Fault: event.FaultRecord}
	}
	if !d.joinGroup(now, e, wire.Record{Peer: p, Envelope: in.Record}, true) {
		return nil, Result{}
	}
	base, err := d.cfg.Cache.NewPrefix(h)
	if err != nil {
		return nil, Result{Fault: event.FaultHeader}
	}
	return base, Result{}
}

// compare returns the fault in an envelope that came for the epoch of p, the prefix held, and differs from p's own; ""
// if there is none. The same header may have been signed again.
func (d *Directory) compare(p *summary.Prefix, envelope []byte) event.Fault {
	h, err := d.cfg.OpenHeader(envelope)
	held := p.Header()
	switch {
	case errors.Is(err, summary.ErrVersion):
		return ""
	case err != nil:
		return event.FaultHeader
	case h.Origin != held.Origin || h.Epoch != held.Epoch:
		return event.FaultGroup
	}
	if _, err := p.Under(h); err != nil {
		return event.FaultTwin
	}
	return ""
}

// install stores a longer prefix of an entry, and returns the event for it.
func (d *Directory) install(now time.Duration, e *Entry, p *summary.Prefix, in event.PartsReceived) *event.Learned {
	h := p.Header()
	before, _ := e.Epoch()
	newer, first, known := h.Epoch.After(before), e.cur == nil, e.At(h.Epoch)
	e.old = h.Seed != d.cfg.Seed
	if first && e.standsAlone() {
		d.origins++
		d.lastLearned = now
	}
	if newer {
		d.renew(now, e, h, in)
	}
	d.held -= prefixMemory(e.cur) + prefixMemory(e.next)
	replaced := d.place(now, e, p)
	d.held += prefixMemory(e.cur) + prefixMemory(e.next)
	d.keepBase(now, e, replaced)
	d.setAnswer(e)
	if first {
		d.tellSibling(e)
	}
	e.touched = now
	d.touch()
	d.estimate = true
	d.due.By(dueExpiry, e.expires())
	d.due.By(dueCompact, now+agenda.Lately)
	d.change(Grown, e)
	return learned(e, p, known, in, newer && !first)
}

// renew stores the header and the record of a newer epoch.
func (d *Directory) renew(now time.Duration, e *Entry, h summary.Header, in event.PartsReceived) {
	signed := e.signedBytes()
	e.peer = wire.PeerID(h.Origin)
	if e.next == nil && e.cur != nil {
		e.oldEnvelope = e.envelope
	}
	e.envelope = d.Keep(in.Envelope)
	if string(e.record) != string(in.Record) {
		e.record, e.recordEpoch = d.Keep(in.Record), h.Epoch
	}
	e.since = now
	e.dialFails = 0 // it was heard of
	e.outdateOverlap(now)
	e.fade(now)
	d.countSigned(e, signed)
	d.change(Renewed, e)
}

// place makes a longer prefix the answering one, unless an older epoch still answers better. It returns the prefix that
// it replaces for good; nil if there is none.
func (d *Directory) place(now time.Duration, e *Entry, p *summary.Prefix) (replaced *summary.Prefix) {
	epoch := p.Header().Epoch
	switch {
	case e.cur == nil:
		e.cur = p
		d.settle(e, Held)
	case e.cur.Header().Epoch == epoch: // deeper, perhaps while a newer one is coming
		e.cur = p
	case p.FalsePositiveRate() <= e.cur.FalsePositiveRate() || p.Parts() >= min(e.cur.Parts(), p.Plan().Parts()) || e.overdue(now, p):
		replaced = e.cur
		e.cur, e.state = p, Held
		d.endReplacement(e)
	default:
		e.next = p
		if e.state != Replaced {
			e.outdated = now
		}
		e.state = Replaced
	}
	return replaced
}

// endReplacement clears what only state Replaced needs: the newer epoch's prefix, the older one's signed header, and the
// time from which the older one was outdated. The caller sets the state.
func (d *Directory) endReplacement(e *Entry) {
	before := e.signedBytes()
	e.next, e.oldEnvelope, e.outdated = nil, nil, 0
	d.countSigned(e, before)
}

// overdue reports whether a newer epoch is to answer although it is less deep, because the older one has been outdated
// for half a minute. The newer one must not be vague. Otherwise an origin that changes faster than a line carries would
// stay at its first epoch.
func (e *Entry) overdue(now time.Duration, p *summary.Prefix) bool {
	return e.state == Replaced && now >= e.outdated+agenda.Lately && p.FalsePositiveRate() <= VagueRate
}

// learned returns the event for a longer prefix p: what p added to known, the prefix held of its epoch before.
func learned(e *Entry, p, known *summary.Prefix, in event.PartsReceived, further bool) *event.Learned {
	gained, delta := p.EncodedBytes(), 0
	if known != nil {
		gained -= known.EncodedBytes()
	}
	switch {
	case ofOneOrigin(in):
		delta = in.Bytes
	case in.Delta != nil:
		gained = len(in.Delta)
	}
	return &event.Learned{
		Origin: e.peer, Epoch: p.Header().Epoch, Parts: p.Parts(), Transport: in.Transport, Bytes: gained, Delta: delta,
		Fallback: further && in.Delta == nil,
	}
}

// Publish stores a new epoch of our own summary. It returns our entry; nil if the epoch is under a seed that has ended.
func (d *Directory) Publish(now time.Duration, in event.Published) *Entry {
	e := d.entries[0]
	if s := in.Stream.Header().Seed; s != d.cfg.Seed {
		if d.previous == nil || s != d.previous.tag {
			return nil
		}
		e = d.entries[d.owns-1]
	}
	e.envelope = in.Envelope
	if string(e.record) != string(in.Record) {
		e.record, e.recordEpoch = in.Record, in.Stream.Header().Epoch
	}
	d.keepBase(now, e, e.cur)
	e.cur, e.since, e.touched, e.state = in.Stream, now, now, Held
	_, samples := d.tables(e)
	samples.SetOwn(e.cur)
	d.estimate = true
	for _, other := range d.Others() {
		if other != nil && other.old == e.old {
			other.outdateOverlap(now)
		}
	}
	return e
}
