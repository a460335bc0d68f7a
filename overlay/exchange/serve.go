package exchange

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// serve sends a link the parts that it wants, as far as its budget and the line's carry. It takes wants of urgency
// first to last, equally urgent ones in the order of arrival.
func (x *Exchange) serve(l *link, first, last int) {
	for urgency := first; urgency <= last; urgency++ {
		l.wants = slices.DeleteFunc(l.wants, func(w *want) bool {
			if w.urgency() == urgency {
				for x.servePart(l, w) && l.Hello.Down == 0 { // the runs make a train, whose rate the peer measures
				}
			}
			return w.end == 0
		})
	}
}

// urgency ranks a want. 0: parts of our own summary. 1: a sample of another origin, or a delta to a new epoch. 2: deeper
// parts of others.
func (w *want) urgency() int {
	switch {
	case w.index == 0:
		return 0
	case w.from == 0:
		return 1
	}
	return 2
}

// servePart sends one run of a link's want, and ends the want when nothing is left of it. It reports whether it sent a
// run and something is left.
func (x *Exchange) servePart(l *link, w *want) (more bool) {
	var p *summary.Prefix
	e := x.origin(w.index)
	if e != nil {
		p = e.At(w.of)
	}
	if p == nil || int(w.from) >= p.Parts() || x.now-w.at >= staleWant {
		w.end = 0
		return false
	}
	end := min(int(w.end), p.Parts())
	if w.given != (wire.Given{}) {
		if x.serveDelta(l, e, p, w, end) != partsInstead {
			return false
		}
		w.given = wire.Given{}
	}
	cut, ok := x.cut(l, e, p, int(w.from), end)
	if !ok {
		return false
	}
	to := cut.Run.First + len(cut.Run.Parts)
	x.sendParts(l, event.SendParts{To: l.Peer, Group: wire.NewGroup(e.Tag(), w.of), Parts: cut})
	x.charge(l, Cost(cut))
	w.from, w.at = uint16(to), x.now
	l.traded(w.index).claims(w.of, w.from)
	if w.from >= w.end || int(w.from) >= p.Parts() {
		w.end = 0
		return false
	}
	return true
}

// sendParts emits a message to a link. It sets More of the link's previous message if both are of the same step.
func (x *Exchange) sendParts(l *link, s event.SendParts) {
	x.out.MarkMore(l.train)
	l.train = x.out.Next()
	x.out.Emit(s)
}

// cut takes the longest run from..end-1 of a prefix that fits into one message and the budgets of the link and the
// line. A run from part 0 brings the signed header and the origin's record. ok is false if not even one part fits now.
func (x *Exchange) cut(l *link, e *origin, p *summary.Prefix, from, end int) (out wire.Parts, ok bool) {
	if from == 0 {
		out.Envelope, out.Record = e.Envelope(p), e.Record().Envelope
	}
	most := maxRunBytes
	if l.Hello.Down == 0 {
		most = leastBurst // a few such messages make a train
	}
	fixed := rpcOverhead + runOverhead + len(out.Envelope) + len(out.Record)
	plan := p.Plan()
	fits := func(to int) bool {
		n := fixed + plan.EncodedBytes(to) - plan.EncodedBytes(from) + 3*(to-from)
		if to == from+1 {
			return l.out.allowsWhole(n) && x.up.allowsWhole(n)
		}
		return n <= most && l.out.allows(n) && x.up.allows(n)
	}
	to := from + 1
	if !fits(to) {
		return wire.Parts{}, false
	}
	for to < end && fits(to+1) {
		to++
	}
	run, err := p.Run(from, to)
	out.Run = run
	return out, err == nil
}
