package exchange

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// A new epoch mostly repeats the one before it. A holder of an earlier epoch of an origin asks for the difference:
//
//   - A peer keeps, beside the newest epoch, some earlier ones for a while. An ask names the deepest of them as its
//     base ([wire.Item].Given), and asks for as many parts of the new epoch.
//   - The holder answers with the signed header and a relative run given that epoch: the delta. If it does not hold the
//     base, or the delta is no smaller, or it follows parts that the asker has and is longer than a burst, it answers
//     with parts. The delta is charged as parts are, and goes before deeper parts: it costs little and makes the new
//     epoch as deep as the old one.
//   - The receiver applies it and verifies the result against the chain of the new header. So it holds the same prefix
//     as if the parts had come, and serves parts and deltas of it. Until then the old epoch answers.
//   - After a delta that does not apply, its sender is asked for parts of that epoch.
//
// Making or applying a delta takes time and memory in proportion to the collection (some forty bytes a key). So there
// are no deltas for collections over MaxDeltaKeys, and the collections of all deltas made in one tick have at most that
// many keys. The latest maxMade deltas are kept for further asks.
const maxMade = bound.Few

// headerBytes is the largest size of a signed header, unless it has many blocks. With twice as many, upkeep is 2 % more,
// with half as many the same (mixed-lines).
const headerBytes = 512

// sizeDelta sets the end, the base, the bytes, the class and the value of an offer of a newer epoch, if an earlier one is
// held with more parts than the newer one has here. A link with fewer parts of it sends a delta of these.
func (x *Exchange) sizeDelta(of *offer, most int) (ok bool) {
	earlier := of.e.Earlier(of.epoch)
	if earlier == nil || min(earlier.Parts(), most) <= of.from {
		return false
	}
	of.end, of.given = min(earlier.Parts(), most), base{p: earlier}.given()
	of.bytes = rpcOverhead + headerBytes + of.e.Held().EncodedBytes()/16
	of.class, of.value = newer, of.e.Weight()/float64(of.bytes)
	return true
}

// serving is the outcome of an ask that a delta may answer.
type serving uint8

const (
	partsInstead serving = iota // there is no delta: parts answer the ask
	deltaWaits                  // the delta waits for budget, or for a tick in which it may be made
	deltaGoes
)

// relative describes the relative run, not yet encoded, that answers an ask for parts of p up to end. It returns false
// if the base that the ask names is not held here, is too large, or is no more precise than the asker's parts of p.
func (x *Exchange) relative(e *origin, p *summary.Prefix, w *want, end int) (m madeDelta, ok bool) {
	m = madeDelta{of: e.Index(), next: p, first: int(w.from), end: end, base: x.directory.Summary(w.given.Group, 1)}
	if m.base == nil || m.first >= end || max(m.base.Header().N, p.Header().N) > directory.MaxDeltaKeys {
		return m, false
	}
	m.parts = min(partsGiven(m.base, p, end), m.base.Parts(), int(w.given.Parts))
	return m, m.parts > 0 && m.base.Plan().ExpectedRate(m.parts) < p.Plan().ExpectedRate(m.first)
}

// makeDelta makes the relative run that answers an ask for parts of p up to end, given the base that the ask names. It
// charges the run if the budgets carry it now. The run's Record is nil if the asker has the record.
func (x *Exchange) makeDelta(l *link, e *origin, p *summary.Prefix, w *want, end int) (out wire.Parts, s serving) {
	m, ok := x.relative(e, p, w, end)
	if !ok {
		return out, partsInstead
	}
	if m.first == 0 {
		out.Envelope = e.Envelope(p)
	}
	if !l.out.allowsWhole(Cost(out)) { // before the run is coded, which takes long
		return wire.Parts{}, deltaWaits
	}
	if out.Delta, s = x.deltas.make(x.cfg.Cache, m); s != deltaGoes {
		return wire.Parts{}, s
	}
	if m.first == 0 && (w.given.Group.OriginTag() != e.Tag() || e.RecordEpoch().After(w.given.Group.Epoch())) {
		out.Record = e.Record().Envelope
	}
	n := Cost(out)
	if m.first > 0 && float64(n) > l.out.burst()-reserve {
		return wire.Parts{}, partsInstead // they can be cut to a burst
	}
	if !l.out.allowsWhole(n) || !x.up.allowsWhole(n) {
		return wire.Parts{}, deltaWaits
	}
	x.charge(l, n)
	return out, deltaGoes
}

// serveDelta answers an ask on a mesh link by a delta, if there is one.
func (x *Exchange) serveDelta(l *link, e *origin, p *summary.Prefix, w *want, end int) serving {
	delta, s := x.makeDelta(l, e, p, w, end)
	if s != deltaGoes {
		return s
	}
	x.sendParts(l, event.SendParts{To: l.Peer, Group: wire.GroupOf(p.Header()), Parts: delta})
	l.traded(e.Index()).claims(w.of, uint16(end))
	w.end = 0
	return deltaGoes
}

// answerDelta answers a direct request by a delta, if there is one.
func (x *Exchange) answerDelta(l *link, e *origin, p *summary.Prefix, r *request) serving {
	w := want{from: uint16(r.q.First), given: r.q.Given}
	delta, s := x.makeDelta(l, e, p, &w, min(r.q.End, p.Parts()))
	if s == deltaGoes {
		x.reply(r, delta)
	}
	return s
}

// madeDeltas keeps the latest deltas, dropping the oldest first: asks for the same delta come from many links.
type madeDeltas struct {
	made []madeDelta
	keys int // keys of the collections with deltas made in this tick
}

// madeDelta holds parts first to end-1 of next, coded given the first parts of base.
type madeDelta struct {
	of         int // directory index of the origin
	next, base *summary.Prefix
	first, end int
	parts      int    // parts of the base that the code refers to
	delta      []byte // code of the parts; nil: plain parts are no larger, or there is no delta
}

// same reports whether two relative runs have the same code.
func (m *madeDelta) same(o *madeDelta) bool {
	return m.base == o.base && m.next == o.next && m.parts == o.parts && m.first == o.first && m.end == o.end
}

// make returns the code of m.
func (d *madeDeltas) make(shared *cache.Cache, m madeDelta) ([]byte, serving) {
	for i := range d.made {
		if d.made[i].same(&m) {
			return d.made[i].delta, d.made[i].answer()
		}
	}
	n := m.base.Header().N + m.next.Header().N
	if d.keys > 0 && d.keys+n > directory.MaxDeltaKeys {
		return nil, deltaWaits
	}
	d.keys += n
	if r, err := shared.RunRelative(m.next, m.first, m.end, m.base, m.parts); err == nil {
		m.delta = r.Bytes
	}
	plan := m.next.Plan()
	if len(m.delta) > maxRunBytes || len(m.delta) >= plan.EncodedBytes(m.end)-plan.EncodedBytes(m.first) {
		m.delta = nil
	}
	if len(d.made) == maxMade {
		d.made = slices.Delete(d.made, 0, 1)
	}
	d.made = append(d.made, m)
	return m.delta, m.answer()
}

func (m *madeDelta) answer() serving {
	if m.delta == nil {
		return partsInstead
	}
	return deltaGoes
}

// ForgetDeltas forgets the deltas to epochs or prefixes that are no longer the newest of their origin.
func (x *Exchange) ForgetDeltas() {
	d := &x.deltas
	d.made = slices.DeleteFunc(d.made, func(m madeDelta) bool {
		e := x.origin(m.of)
		return e == nil || e.Newest() != m.next
	})
}
