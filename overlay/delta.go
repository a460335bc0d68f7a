package overlay

import (
	"errors"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// A new epoch mostly says what the one before it said. Who holds an earlier epoch of an origin asks for the difference:
//
//   - A holder keeps, beside the newest epoch, up to maxBases earlier ones for keepBases, and says with each announcement
//     which ([Item].Bases). An ask says which the asker holds, at least as deep as it wants the new one.
//   - The holder answers with the signed header and the delta from the latest epoch that both hold, or, if there is none
//     or it is no smaller, with parts. The delta is charged as parts are, and goes before deeper parts: it costs little and
//     keeps all that is known of a peer.
//   - The receiver applies it; the result is verified against the chain of the new header, so whoever applied a delta holds
//     the same prefix as if the parts had come, and serves parts and deltas of it. Until then the old epoch answers.
//   - After a delta that does not apply, its sender is asked for parts of that epoch.
//
// Making or applying a delta takes time and memory in proportion to the collection (about 24 bytes a key), so there are none
// for collections over MaxDeltaKeys, and in one tick deltas of at most that many keys in all are made. Deltas made
// are kept while they are asked for, up to madeBytes.
const (
	// MaxDeltaKeys is the largest collection that deltas are made of or applied to.
	MaxDeltaKeys = 1 << 20
	maxBases     = 3
	keepBases    = 2 * time.Minute
	madeBytes    = 1 << 20
	// maxDeltaBytes is the most that a delta may take: it goes in one message.
	maxDeltaBytes = 64 << 10
	// deltaPatience is how long, after a new epoch was first heard of, somebody is awaited who has a delta to it, of the
	// whole depth.
	deltaPatience = 2 * time.Second
	// deltaValue puts a delta before deeper parts, and behind the samples of origins not known at all.
	deltaValue = 1e3
	// shareKept is how long an estimate of overlap outlives the epochs that it was made of.
	shareKept = time.Minute
)

// base is an earlier epoch that is kept for deltas.
type base struct {
	prefix *summary.Prefix
	until  time.Duration
}

// keepBase keeps a prefix that is replaced by one of a later epoch.
func (o *Overlay) keepBase(now time.Duration, e *entry, p *summary.Prefix) {
	if p == nil || p.Parts() == 0 || p.Header().N > MaxDeltaKeys {
		return
	}
	e.bases = append(e.bases, base{p, now + keepBases})
	o.basesUntil = min(o.basesUntil, now+keepBases)
	o.hold(e, prefixMemory(p))
	if len(e.bases) > maxBases {
		o.dropBase(e)
	}
}

// dropBase forgets the oldest base of an entry.
func (o *Overlay) dropBase(e *entry) {
	o.hold(e, -prefixMemory(e.bases[0].prefix))
	e.bases = slices.Delete(e.bases, 0, 1)
}

// hold counts memory of others' summaries; our own is not part of the directory's.
func (o *Overlay) hold(e *entry, bytes int) {
	if !o.isOwn(e) {
		o.held += bytes
	}
}

// expireBases forgets the bases that have been kept for long enough.
func (o *Overlay) expireBases(now time.Duration) {
	if now < o.basesUntil {
		return
	}
	o.basesUntil = forever
	for _, e := range o.entries {
		for e != nil && len(e.bases) > 0 && now >= e.bases[0].until {
			o.dropBase(e)
		}
		if e != nil && len(e.bases) > 0 {
			o.basesUntil = min(o.basesUntil, e.bases[0].until)
		}
	}
}

// shedBase forgets the base that has been kept for longest; false when there is none.
func (o *Overlay) shedBase() bool {
	var oldest *entry
	for _, e := range o.others() {
		if e != nil && len(e.bases) > 0 && (oldest == nil || e.bases[0].until < oldest.bases[0].until) {
			oldest = e
		}
	}
	if oldest == nil {
		return false
	}
	o.dropBase(oldest)
	return true
}

// Bases says which earlier epochs of an origin somebody holds: bit i stands for the epoch i+1 sequence numbers before.
type Bases uint8

// MaxBases is the largest value of [Bases]: it looks back over seven epochs.
const MaxBases Bases = 1<<7 - 1

// basesOf are the epochs before ep of which at least so many parts are held.
func (e *entry) basesOf(ep summary.Epoch, parts int) Bases {
	var all Bases
	for p := range e.prefixes {
		if at := p.Header().Epoch; p.Parts() >= parts && at.Generation == ep.Generation && at.Sequence < ep.Sequence && p.Header().N <= MaxDeltaKeys {
			all |= 1 << (min(ep.Sequence-at.Sequence, 8) - 1)
		}
	}
	return all & MaxBases
}

// base finds what is held of an earlier epoch, at least so many parts, among those of a mask: the latest.
func (e *entry) base(ep summary.Epoch, mask Bases, parts int) *summary.Prefix {
	var best *summary.Prefix
	for p := range e.prefixes {
		at := p.Header().Epoch
		one := Bases(1) << (min(ep.Sequence-at.Sequence, 8) - 1)
		if at.Generation != ep.Generation || at.Sequence >= ep.Sequence || mask&MaxBases&one == 0 || p.Parts() < parts {
			continue
		}
		if best == nil || at.After(best.Header().Epoch) {
			best = p
		}
	}
	return best
}

// prefixes yields all that is held of an origin.
func (e *entry) prefixes(yield func(*summary.Prefix) bool) {
	for _, p := range []*summary.Prefix{e.next, e.cur} {
		if p != nil && !yield(p) {
			return
		}
	}
	for _, b := range e.bases {
		if !yield(b.prefix) {
			return
		}
	}
}

// deepest is how many parts are held of the deepest epoch before ep from which a delta could lead there.
func (e *entry) deepest(ep summary.Epoch) int {
	most := 0
	for p := range e.prefixes {
		if e.basesOf(ep, p.Parts()) != 0 {
			most = max(most, p.Parts())
		}
	}
	return most
}

// deltaOffer turns the offer of a newer epoch, or of more of it, into one of a delta, of those links that can make it and reach
// deepest. wait says that it is better to ask nobody yet.
func (o *Overlay) deltaOffer(now time.Duration, of *offer) (wait bool) {
	e := of.e
	deepest := e.deepest(of.epoch)
	if deepest <= of.from {
		return false
	}
	if len(of.links) == 0 { // the origin itself is asked, of the epoch that is held in part
		o.sizeDelta(of, min(deepest, e.newest().Plan().Parts()))
		return false
	}
	reach := func(l *link) int {
		t := l.known(e.index)
		want := min(int(t.have), deepest)
		if t.blamed && l.blames[e.index].noDelta == of.epoch || t.bases&e.basesOf(of.epoch, want) == 0 {
			return 0
		}
		return want
	}
	want := of.from
	for _, l := range of.links {
		want = max(want, reach(l))
	}
	if want < deepest && now-e.newerSince < deltaPatience {
		return true
	}
	if want == of.from {
		return false
	}
	of.links = slices.DeleteFunc(of.links, func(l *link) bool { return reach(l) < want })
	o.sizeDelta(of, want)
	return false
}

// sizeDelta fixes the end, the bytes and the value of an offer of a delta.
func (o *Overlay) sizeDelta(of *offer, want int) {
	of.end, of.bases = want, of.e.basesOf(of.epoch, want)
	of.bytes = of.e.deltaBytes
	if of.bytes == 0 {
		of.bytes = rpcOverhead + summary.MaxEnvelope/2 + of.e.cur.EncodedBytes()/16
	}
	of.value = deltaValue * o.weight(of.e) / float64(of.bytes)
}

// DeltaBytes is what a delta, with the header and the record that go with it, counts against a budget.
func DeltaBytes(delta, envelope, record []byte) int {
	return rpcOverhead + deltaOverhead + len(delta) + len(envelope) + len(record)
}

// serving is what became of an ask that a delta may answer.
type serving uint8

const (
	partsInstead serving = iota // there is no delta
	deltaWaits                  // for budget
	deltaGoes
)

// makeDelta makes the delta that answers an ask for parts of p up to end, from one of the bases that the asker holds, and
// charges it, if the budgets carry it now. record is nil when the asker has it.
func (o *Overlay) makeDelta(l *link, e *entry, p *summary.Prefix, bases Bases, end int) (delta, record []byte, s serving) {
	old := e.base(p.Header().Epoch, bases, end)
	if old == nil || end < 1 || max(old.Header().N, p.Header().N) > MaxDeltaKeys {
		return nil, nil, partsInstead
	}
	if !l.out.allowsWhole(DeltaBytes(nil, o.envelopeOf(e, p), nil)) {
		return nil, nil, deltaWaits
	}
	delta, s = o.deltas.make(o.cfg.EncodeDelta, old, p, end)
	if s != deltaGoes {
		return nil, nil, s
	}
	if e.recordSince.After(old.Header().Epoch) {
		record = e.record.Envelope
	}
	n := DeltaBytes(delta, o.envelopeOf(e, p), record)
	if !l.out.allowsWhole(n) || !o.up.allowsWhole(n) {
		return nil, nil, deltaWaits
	}
	o.charge(l, n)
	if e.index == 0 {
		o.copies.taken(o.now, end)
	}
	return delta, record, deltaGoes
}

// serveDelta answers an ask on a mesh link by a delta, if there is one.
func (o *Overlay) serveDelta(l *link, e *entry, p *summary.Prefix, w *want, end int) serving {
	delta, record, s := o.makeDelta(l, e, p, w.bases, end)
	if s != deltaGoes {
		return s
	}
	o.sendParts(l, SendParts{To: l.peer, Group: p.Header().Group(), Envelope: o.envelopeOf(e, p), Record: record, Delta: delta})
	l.trade(e.index).claims(w.of, uint16(end))
	delete(l.wants, e.index)
	return deltaGoes
}

// answerDelta answers a direct request by a delta, if there is one.
func (o *Overlay) answerDelta(l *link, e *entry, p *summary.Prefix, in PartsRequested) serving {
	delta, record, s := o.makeDelta(l, e, p, in.Bases, min(in.End, p.Parts()))
	if s == deltaGoes {
		o.emit(AnswerParts{To: in.From, Request: in.Request, Envelope: o.envelopeOf(e, p), Record: record, Delta: delta})
	}
	return s
}

// onDelta brings an origin to a new epoch by a delta; empty is the prefix of no parts of that epoch, or what is held of it.
// A delta that does not apply is the sender's fault once: it is asked for parts from then on.
func (o *Overlay) onDelta(now time.Duration, e *entry, empty *summary.Prefix, in PartsReceived) (*summary.Prefix, Fault) {
	p, err := o.applyDelta(e, empty, in)
	if err == nil {
		e.deltaBytes = max(in.Bytes, 1)
		return p, ""
	}
	if l := o.links[in.From]; l != nil {
		l.blame(e.index).noDelta = in.Group.Epoch()
	}
	if errors.Is(err, summary.ErrBase) || errors.Is(err, summary.ErrNoDelta) {
		return nil, "" // what it was made for is no longer held
	}
	return nil, FaultDelta
}

func (o *Overlay) applyDelta(e *entry, empty *summary.Prefix, in PartsReceived) (*summary.Prefix, error) {
	epoch, parts, err := summary.DeltaBase(in.Delta)
	if err != nil {
		return nil, err
	}
	for old := range e.prefixes {
		if h := old.Header(); h.Epoch == epoch && in.Group.Epoch().After(epoch) && old.Parts() >= parts && max(h.N, empty.Header().N) <= MaxDeltaKeys {
			return o.cfg.ApplyDelta(old, empty.Header(), in.Delta)
		}
	}
	return nil, summary.ErrBase
}

// madeDeltas are the deltas made of late, the oldest going first: asks for the same delta come from many links.
type madeDeltas struct {
	made  []madeDelta
	bytes int
	keys  int // of collections of which deltas were made in this tick
}

type madeDelta struct {
	old, next *summary.Prefix
	parts     int
	delta     []byte // nil: there is none
}

// make returns the delta between the first parts of two prefixes.
func (d *madeDeltas) make(encode func(old, next *summary.Prefix, parts int) ([]byte, error), old, next *summary.Prefix, parts int) ([]byte, serving) {
	for _, m := range d.made {
		if m.old == old && m.next == next && m.parts == parts {
			return m.delta, m.answer()
		}
	}
	n := old.Header().N + next.Header().N
	if d.keys > 0 && d.keys+n > MaxDeltaKeys {
		return nil, deltaWaits
	}
	d.keys += n
	delta, err := encode(old, next, parts)
	if err != nil || len(delta) > maxDeltaBytes {
		delta = nil
	}
	m := madeDelta{old, next, parts, delta}
	d.made = append(d.made, m)
	for d.bytes += m.size(); d.bytes > madeBytes; d.made = slices.Delete(d.made, 0, 1) {
		d.bytes -= d.made[0].size()
	}
	return delta, m.answer()
}

func (m *madeDelta) answer() serving {
	if m.delta == nil {
		return partsInstead
	}
	return deltaGoes
}

// size counts what a delta keeps from being freed, roughly: an entry without a delta is as large as others.
func (m *madeDelta) size() int { return len(m.delta) + 1<<10 }

// expire forgets the deltas to what is no longer the newest of its origin.
func (d *madeDeltas) expire(current func(*summary.Prefix) bool) {
	d.made = slices.DeleteFunc(d.made, func(m madeDelta) bool {
		if current(m.next) {
			return false
		}
		d.bytes -= m.size()
		return true
	})
}
