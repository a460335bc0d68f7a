package exchange

import (
	"math"

	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Collections are alike. So a run goes coded given another origin's summary, its base, where that is shorter:
//
//   - Both ends hold the base: the receiver is its origin, has announced it, or was sent it.
//   - Of those it is the one that saves most, as estimated from the samples of both collections.
//   - Whoever asks again for what it was sent could not use it, and gets parts in plain form. So a base that the receiver
//     has dropped costs one message. What leads there is verified as parts are.
//
// Coding takes time in proportion to both collections: at most tickKeys in one tick, and keysPerByte of the run. The
// rest goes in plain form.
const (
	// alikeAmong is how many bases are compared for a run, in the order of the directory, beside the receiver's own.
	alikeAmong = 128
	// leastSaved of the plain bytes must be saved by estimate.
	leastSaved  = 0.05
	keysPerByte = 64
	tickKeys    = directory.MaxDeltaKeys / 2
)

// shared returns what both a link and we hold of an origin, and how many parts of it; none if nothing.
func (l *link) shared(b *origin) (*summary.Prefix, int) {
	if b.Entry == nil || b.Held() == nil {
		return nil, 0
	}
	p, t := b.Held(), l.known(b.Index())
	switch ep := p.Header().Epoch; {
	case b.Peer() == l.peer && !t.theirs.After(ep):
		return p, p.Parts()
	case t.theirs == ep:
		return p, min(int(t.have), p.Parts())
	}
	return nil, 0
}

// relate gives parts of p up to end, which a link has asked for, the form given a base, if that is shorter.
func (x *Exchange) relate(l *link, e *origin, p *summary.Prefix, end int, out *wire.Parts) {
	from := out.Run.First
	if t := l.known(e.Index()); t.theirs == p.Header().Epoch && int(t.have) > from {
		return
	}
	base, parts := x.baseFor(l, e, p, from, end)
	if base == nil {
		return
	}
	code, s := x.deltas.make(x.cfg.RunRelative, madeDelta{of: e.Index(), old: base, oldParts: parts, next: p, first: from, end: end})
	if s == deltaGoes {
		out.Run, out.Delta = summary.Run{}, code
	}
}

// baseFor returns the base that saves most of parts from..end-1 of p, by estimate, and how many parts of it there are;
// nil if none saves enough. O(the keys of p + the bases compared).
func (x *Exchange) baseFor(l *link, e *origin, p *summary.Prefix, from, end int) (base *summary.Prefix, parts int) {
	plan := p.Plan()
	bytes := plan.EncodedBytes(end) - plan.EncodedBytes(from)
	keys := min(keysPerByte*bytes, tickKeys-x.deltas.keys) - plan.N
	if keys <= 0 {
		return nil, 0
	}
	var own compare.Samples
	own.SetOwn(p)
	before, after := plan.ExpectedRate(from), plan.ExpectedRate(end)
	most, left := leastSaved*float64(bytes), alikeAmong
	for i := range x.origins {
		b := &x.origins[i]
		if b == e || left == 0 && (b.Entry == nil || b.Peer() != l.peer) {
			continue
		}
		held, n := l.shared(b)
		if n == 0 || held.Plan().N > keys {
			continue
		}
		brings := float64(bytes) // down to the level to which the base is known
		if rate := held.Plan().ExpectedRate(n); rate > after {
			brings *= math.Log2(before/rate) / math.Log2(before/after)
		}
		if brings <= most {
			continue
		}
		left = max(0, left-1)
		both, ok := own.With(compare.SampleOf(held), directory.Confidence)
		if !ok {
			continue
		}
		if s := saved(brings, float64(plan.N), both.Value, float64(held.Plan().N), before); s > most {
			base, parts, most = held, n, s
		}
	}
	return base, parts
}

// saved estimates the bytes that a base saves, of those that parts of n keys take in plain form. Of the base's keys, both
// are in the other collection, too; at rate of the others match what is known of that already. The keys in both need no
// bytes; which of the base's keys they are does.
func saved(bytes, n, both, base, rate float64) float64 {
	both = min(both, n, base)
	others := float64((base - both) * rate)
	if both <= 0 {
		return 0
	}
	bits := float64(both * math.Log2(1+others/both))
	if others > 0 {
		bits += float64(others * math.Log2(1+both/others))
	}
	return float64(bytes*both)/n - float64(bits/8)
}
