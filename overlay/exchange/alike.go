package exchange

import (
	"math"
	"slices"
	"sort"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Collections resemble each other: parts coded given a similar summary take a third of the bytes. A peer that asks for
// parts names a base that it holds, a summary of any origin. A peer that holds the base, too, answers with a relative
// run if that is shorter, else with parts. So no peer needs to know what others hold: the asker has the base.
//
// A base is chosen for each ask beyond the first part: a summary that a link with these parts claims to hold, too. Of
// several it is the one that saves most bytes, estimated from samples. A link that holds it is asked. If no link claims
// to hold one, a base is named all the same: on slow lines links hold far more than they have announced. Only summaries
// of nearest size are compared: keys that only the base has cost bits, and keys that it lacks cost more.
const (
	basesCompared = bound.Few // bases compared for one ask, out of directory.LookedAt entries searched
	keysCompared  = bound.Few
)

// base is a summary that a relative run may refer to.
type base struct {
	of    *origin
	p     *summary.Prefix
	rate  float64 // false-positive rate of the parts that a link holds, too
	apart float64 // ratio, at least 1, of the number of keys of the base and of the summary asked for
	saves float64 // bytes that it saves, by estimate
}

// given returns the name of a base and the number of its parts held; zero if there is no base.
func (b base) given() wire.Given {
	if b.p == nil {
		return wire.Given{}
	}
	return wire.Given{Group: wire.GroupOf(b.p.Header()), Parts: uint16(b.p.Parts())}
}

// partsGiven returns the number of parts of a base given which parts of p up to end are coded: the fewest whose
// expected false-positive rate is no higher than p's at end, or all.
func partsGiven(base, p *summary.Prefix, end int) int {
	plan, rate := base.Plan(), p.Plan().ExpectedRate(end)
	return 1 + sort.Search(plan.Parts()-1, func(i int) bool { return plan.ExpectedRate(i+1) <= rate })
}

// baseFor returns the base that saves most bytes of the parts of p up to end, by estimate; its p is nil if none saves
// enough. Only parts of a base that one of the links claims to hold count, or without links all parts held here.
func (x *Exchange) baseFor(links []*link, e *origin, p *summary.Prefix, end int) (best base) {
	if p == nil || p.Parts() == 0 || end <= p.Parts() || p.Header().N > directory.MaxDeltaKeys {
		return base{}
	}
	few := compare.FewOf(p, keysCompared)
	n, plan := float64(p.Header().N), p.Plan()
	end = min(end, plan.Parts())
	before, after := plan.ExpectedRate(p.Parts()), plan.ExpectedRate(end) // false-positive rates
	bytes := float64(plan.EncodedBytes(end) - plan.EncodedBytes(p.Parts()))
	// A base is chosen if the plain bytes are clearly more by the estimate. Coding takes the same time, however little it
	// saves. If any base were chosen, as many bytes would be sent in twice the time of a processor; if it had to save .4,
	// they would be as many, too (scenario routing, 60 peers of 12,000 keys at 256 kbit/s).
	best.saves = bytes - bytes/bound.Clearly
	for _, b := range x.nearestSizes(links, e, p, before) {
		brings := bytes // bytes of the parts of p down to the base's false-positive rate
		if b.rate > after {
			brings *= math.Log2(before/b.rate) / math.Log2(before/after)
		}
		if brings <= best.saves {
			continue
		}
		share, ok := few.In(b.p)
		if !ok {
			continue
		}
		if b.saves = saved(brings, n, float64(n*share), float64(b.p.Header().N), before); b.saves > best.saves {
			best = b
		}
	}
	return best
}

// nearestSizes returns up to basesCompared summaries, nearest to p in number of keys first. The [base.commonRate] of
// each is at most half of rate.
func (x *Exchange) nearestSizes(links []*link, e *origin, p *summary.Prefix, rate float64) (near []base) {
	for k := range min(len(x.origins), directory.LookedAt) {
		of := &x.origins[(e.Index()+len(x.origins)-k)%len(x.origins)]
		if of.Entry == nil || of.Entry == e.Entry || of.Held() == nil || of.Held().Header().N > directory.MaxDeltaKeys {
			continue
		}
		b := base{of: of, p: of.Held()}
		small, large := min(p.Header().N, b.p.Header().N), max(p.Header().N, b.p.Header().N)
		b.apart = float64(large) / float64(max(1, small))
		at := sort.Search(len(near), func(i int) bool { return near[i].apart > b.apart })
		if at == basesCompared {
			continue
		}
		if b.rate = b.commonRate(links); b.rate <= rate/2 {
			near = slices.Insert(near, at, b)[:min(len(near)+1, basesCompared)]
		}
	}
	return near
}

// commonRate returns the false-positive rate of the longest prefix of b that any one of the links claims to hold, too.
// Without links it is the rate of all that is held here.
func (b *base) commonRate(links []*link) float64 {
	common := 0
	for _, l := range links {
		common = max(common, b.common(l))
	}
	if len(links) == 0 || common == b.p.Parts() {
		return b.p.FalsePositiveRate()
	}
	return b.p.Plan().ExpectedRate(common)
}

// knows reports whether the parts of a base that a linked peer claims to hold reach the base's rate.
func (b base) knows(l *link) bool { return b.commonRate([]*link{l}) <= b.rate }

// common returns the number of parts of a base that a linked peer holds, too, as far as it claims.
func (b *base) common(l *link) int {
	t := l.trade(b.of.Index())
	switch {
	case b.of.Peer() == l.Peer:
		return b.p.Parts()
	case t.theirs == b.p.Header().Epoch:
		return min(b.p.Parts(), int(t.have))
	}
	return 0
}

// saved estimates how many bytes a base saves of the given bytes of plain parts. The parts are of a collection of n
// keys, and both is the number of these keys that the base holds, too. A fraction rate of the base's other keys match
// the parts already known. A key in both costs bytes only to tell it from the other keys that match.
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
